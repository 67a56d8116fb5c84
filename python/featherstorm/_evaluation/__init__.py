"""Operations of the table: as functions, and run on the arrays of a call."""
