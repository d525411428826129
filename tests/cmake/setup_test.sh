#!/usr/bin/env bash
# cmake/setup.sh as root, as a user with sudo and as a user without, on a machine that is played by a few small
# programs: id, sudo, dpkg-query, apt-get and python3.
#   setup_test.sh SOURCE_TREE
set -euo pipefail
source_tree=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fake() { # NAME, its text on standard input
  { echo "#!$(command -v bash)"; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# A machine with nothing on it: the tools that are on every Debian, and a tree with setup.sh.
new_machine() {
  rm -rf "${work:?}/bin" "$work/tree"
  mkdir -p "$work/bin" "$work/tree/cmake"
  cp "$source_tree"/cmake/{setup.sh,packages.txt,requirements.txt} "$work/tree/cmake"
  for tool in bash grep env mkdir cp cmp tr touch dirname cat true rm; do
    ln -s "$(type -P $tool)" "$work/bin/$tool"
  done
  : >"$work/installed"
  : >"$work/log"
  fake id <<<'echo "${PLAYED_UID:-1000}"'
  fake dpkg-query <<<"grep -qx \"\${@: -1}\" '$work/installed' && echo 'install ok installed'"
  fake apt-get <<E2
echo "apt-get \$*" >>'$work/log'
[ "\$PLAYED_UID" = 0 ] || { echo 'are you root?' >&2; exit 100; }
[ "\$1" = install ] || exit 0
shift
for p; do
  case \$p in
  -*) continue ;;
  \$PLAYED_LACKS) echo "unable to locate \$p" >&2; exit 100 ;;
  esac
  echo "\$p" >>'$work/installed'
done
E2
  fake python3 <<E2
echo "python3 \$*" >>'$work/log'
mkdir -p "\$3/bin"
{ echo '#!$(command -v bash)'; echo "echo pip >>'$work/log'"; } >"\$3/bin/pip"
$(command -v chmod) +x "\$3/bin/pip"
E2
}
with_sudo() {
  fake sudo <<'E2'
[ "$1" != -n ] || shift
PLAYED_UID=0 exec "$@"
E2
}
sudo_with_a_password() { fake sudo <<<'echo "a password is required" >&2; exit 1'; }
all_packages() { grep -v '^#' "$source_tree/cmake/packages.txt"; }

setup() { # [VARIABLE=VALUE...]: what it says is in $said, its exit code in $code
  code=0
  said=$(env -i PATH="$work/bin" PLAYED_LACKS=none "$@" bash "$work/tree/cmake/setup.sh" 2>&1 </dev/null) || code=$?
}
claim() { # TEXT CONDITION...
  local text=$1
  shift
  "$@" && return
  echo "not so: $text" >&2
  echo "  setup.sh ended with $code and said: $said" >&2
  failures=$((failures + 1))
}
says() { grep -qF -- "$1" <<<"$said"; }
says_all_packages() { for p in $(all_packages); do says "$p" || return 1; done; }
has_all_packages() { for p in $(all_packages); do grep -qx "$p" "$work/installed" || return 1; done; }
code_is() { [ "$code" = "$1" ]; }
did_nothing() { [ ! -s "$work/log" ]; }
has_venv() { [ -f "$work/tree/build/venv/requirements.installed" ]; }
not() { ! "$@"; }

for who in "a user without sudo" "a user whose sudo wants a password"; do
  new_machine
  [ "$who" = "a user without sudo" ] || sudo_with_a_password
  setup
  claim "$who is refused" code_is 1
  claim "$who is told which packages are missing" says_all_packages
  claim "$who is told how to install them" says "apt-get install"
  claim "$who is told that it takes root or sudo" says "root or sudo"
  claim "nothing was tried for $who" did_nothing
done

for who in root "a user with sudo"; do
  new_machine
  uid=1000
  if [ "$who" = root ]; then uid=0; else with_sudo; fi
  setup PLAYED_UID=$uid
  claim "$who is served" code_is 0
  claim "$who gets all packages" has_all_packages
  claim "$who gets the data" grep -qx dataset-fashion-mnist "$work/installed"
  claim "$who gets the venv" has_venv
  : >"$work/log"
  setup PLAYED_UID=$uid
  claim "a second run of $who succeeds" code_is 0
  claim "a second run of $who does nothing" did_nothing
  claim "a second run of $who says nothing" [ -z "$said" ]
done

new_machine
all_packages >"$work/installed"
setup
claim "a user without sudo needs none where all packages are there" code_is 0
claim "such a user is told that the sample serves" says "sample"
claim "such a user gets the venv" has_venv
claim "nothing was tried that needs root" not grep -q apt-get "$work/log"

new_machine
setup PLAYED_UID=0 PLAYED_LACKS=dataset-fashion-mnist
claim "the data is not needed" code_is 0
claim "its absence is told" says "sample"
: >"$work/log"
setup PLAYED_UID=0 PLAYED_LACKS=dataset-fashion-mnist
claim "it is not asked for again" did_nothing

new_machine
setup PLAYED_UID=0 PLAYED_LACKS=make
claim "a package that is not to be had is a failure" code_is 1
claim "a failure names packages" says "make"
claim "a failure makes no venv" not has_venv

[ $failures = 0 ]
