"""What a robot carries beside its tree, where it comes from, and which operation moves it on."""
