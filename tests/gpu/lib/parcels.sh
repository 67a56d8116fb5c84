# shellcheck shell=bash
# Parcels: folders parcel-1 ... parcel-N that hold the pieces of archives, and the same manifest each. A manifest has lines
# about what was packed ("commit 1a2b3c", "missing WHAT: WHY") and one for each piece:
#
#   piece SHA256 BYTES PARCEL FILE        FILE is ARCHIVE.tar.xz.NN
#
# Pieces are put aside in a folder outside the tree, under their checksums, so that what one command carried is there for the
# next one; an archive is unpacked once.

fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }

# ---- packing ----

# An archive of a folder, the same bytes for the same files.
#   make_archive FOLDER FILE LEVEL
make_archive() {
  tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --exclude=__pycache__ -c . | xz "-T0" "-$3" >"$2.new"
  mv "$2.new" "$2"
}

# Deals the archives out to parcels: each is filled before the next one begins. Pieces are small, so that little stays empty.
#   deal OUT BYTES MANIFEST ARCHIVE...    prints how many parcels there are
deal() {
  local out=$1 limit=$2 manifest=$3 piece size parcel=1 used part=$((8 << 20))
  used=$(($(stat -c %s "$manifest") + 65536)) # what the manifest will be
  if ((part > limit / 4)); then part=$((limit / 4)); fi
  mkdir -p "$out/parcel-1" "$out/pieces"
  for archive in "${@:4}"; do
    split -b "$part" -d -a 3 "$archive" "$out/pieces/${archive##*/}."
    for piece in "$out/pieces/${archive##*/}".*; do
      size=$(stat -c %s "$piece")
      if ((used + size > limit)); then
        parcel=$((parcel + 1)) used=65536
        mkdir -p "$out/parcel-$parcel"
      fi
      used=$((used + size))
      mv "$piece" "$out/parcel-$parcel/"
      piece=$out/parcel-$parcel/${piece##*/}
      echo "piece $(sha256sum <"$piece" | cut -d' ' -f1) $size $parcel ${piece##*/}" >>"$manifest"
    done
  done
  rmdir "$out/pieces"
  for ((used = 1; used <= parcel; used++)); do cp "$manifest" "$out/parcel-$used/manifest.txt"; done
  echo "$parcel"
}

# ---- unpacking; $work is the folder outside the tree, $manifest the file ----

# The parcels among folders: each is one, or holds some.
parcels_in() {
  local folder
  for folder; do
    if [[ -e $folder/manifest.txt ]]; then
      echo "$folder"
    elif compgen -G "$folder/parcel-*/manifest.txt" >/dev/null; then
      printf '%s\n' "$folder"/parcel-*
    else
      fail "$folder is no parcel and holds none: expected its manifest.txt, or folders parcel-1, parcel-2, ..."
    fi
  done
}

# The lines "SHA256 PARCEL FILE" of an archive.
pieces_of() { awk -v archive="$1.tar.xz." '$1 == "piece" && index($5, archive) == 1 { print $2, $4, $5 }' "$manifest"; }

# Puts the pieces of parcels aside, if they are as the manifest says.
put_aside() {
  local parcel sha bytes number file found
  mkdir -p "$work/pieces"
  for parcel; do
    cmp -s "$parcel/manifest.txt" "$1/manifest.txt" || fail "$parcel and $1 were not packed together: their manifests differ"
    cp "$parcel/manifest.txt" "$work/manifest.new" && mv "$work/manifest.new" "$work/manifest.txt"
    while read -r _ sha bytes number file; do
      if [[ ! -e $parcel/$file || -e $work/pieces/$sha ]]; then continue; fi
      cp "$parcel/$file" "$work/pieces/new.$$"
      found=$(sha256sum <"$work/pieces/new.$$" | cut -d' ' -f1)
      [[ $found == "$sha" ]] || fail "$parcel/$file is damaged: $(stat -c %s "$parcel/$file") bytes with SHA-256 $found, \
expected $bytes bytes with $sha; carry parcel $number again"
      mv "$work/pieces/new.$$" "$work/pieces/$sha"
    done < <(grep '^piece ' "$parcel/manifest.txt")
  done
}

# Whether an archive was packed.
has_archive() { [[ -n $(pieces_of "$1") ]]; }

# Unpacks an archive, once; $folder becomes where it lies.
unpack() {
  local name=$1 sha number file missing=() files=()
  has_archive "$name" || fail "there is no $name in these parcels$(sed -n "s/^missing $name: /: /p" "$manifest")"
  while read -r sha number file; do
    files+=("$work/pieces/$sha")
    [[ -e $work/pieces/$sha ]] || missing+=("$file of parcel $number")
  done < <(pieces_of "$name")
  ((${#missing[@]} == 0)) || fail "$name is not whole: ${#missing[@]} of its ${#files[@]} pieces, from ${missing[0]} to \
${missing[-1]}, were neither given nor put aside before: name their parcels with --packed as well"
  folder=$work/$name-$(pieces_of "$name" | sha256sum | cut -c1-16)
  [[ -e $folder/.whole ]] && return
  rm -rf "$folder"
  mkdir -p "$folder"
  cat "${files[@]}" | tar -xJ -C "$folder"
  touch "$folder/.whole"
}
