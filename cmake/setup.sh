#!/usr/bin/env bash
# Installs what is missing: Debian packages (cmake/packages.txt, and lists that are given as arguments) and a venv with
# pinned wheels (cmake/requirements.txt) in build/venv. Does nothing when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

needed=$(grep -hv '^#' cmake/packages.txt "$@")
missing=()
for package in $needed; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done

# The full data set is a comfort, not a need: the project ships a sample of it.
data=dataset-fashion-mnist
have_data=$(dpkg-query -W -f='${Status}' "$data" 2>/dev/null | grep -c 'install ok installed' || true)

if [ ${#missing[@]} -gt 0 ] || { [ "$have_data" = 0 ] && [ ! -e build/no-data-package ]; }; then
  if [ "$(id -u)" = 0 ]; then
    as_root=()
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=(sudo)
  elif [ ${#missing[@]} -gt 0 ]; then
    echo "setup: these Debian packages are missing, and installing them needs root or sudo:" >&2
    echo "    apt-get install ${missing[*]}" >&2
    exit 1
  else
    echo "setup: the full data set needs root or sudo (apt-get install $data); the sample that ships with Saltern" \
      "serves instead" >&2
    have_data=1
  fi
  apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }
  wanted=("${missing[@]}")
  [ "$have_data" != 0 ] || wanted+=("$data")
  if [ ${#wanted[@]} -gt 0 ]; then
    echo "setup: installing ${wanted[*]}"
    apt update -qq || echo "setup: the package lists could not be updated; going on with those at hand" >&2
  fi
  if [ ${#missing[@]} -gt 0 ]; then
    apt install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || {
      echo "setup: could not install: ${missing[*]}" >&2
      exit 1
    }
  fi
  if [ "$have_data" = 0 ]; then
    apt install -y -qq --no-install-recommends "$data" >/dev/null || {
      echo "setup: $data is not to be had; the sample that ships with Saltern serves instead" >&2
      mkdir -p build && touch build/no-data-package
    }
  fi
fi

stamp=build/venv/requirements.installed
if ! cmp -s cmake/requirements.txt "$stamp"; then
  echo "setup: making build/venv with $(grep -v '^#' cmake/requirements.txt | tr '\n' ' ')"
  mkdir -p build
  python3 -m venv build/venv
  build/venv/bin/pip install -q --disable-pip-version-check -r cmake/requirements.txt
  cp cmake/requirements.txt "$stamp"
fi
