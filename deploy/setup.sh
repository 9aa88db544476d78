#!/bin/sh
# Installs what the private stack needs and this machine lacks: the servers of PostgreSQL and
# RabbitMQ, and a C compiler, from the operating system's packages.
#
# The rule: no service of the system may run afterwards that did not run before. The lab starts its
# own copies; a server on a well-known port that nobody asked for is a surprise.
set -eu

LOCK_LIMIT=120
POLICY=/usr/sbin/policy-rc.d
CLUSTER_CONF=/etc/postgresql-common/createcluster.conf
CLUSTER_CONF_SHIPPED=/usr/share/postgresql-common/createcluster.conf

say() { printf 'setup: %s\n' "$*" >&2; }

has_postgres() {
    for server in /usr/lib/postgresql/*/bin/postgres; do
        [ -x "$server" ] && return 0
    done
    return 1
}

# The packages that are missing.
missing=
has_postgres || missing="$missing postgresql"
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || missing="$missing rabbitmq-server"
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"

# Rust is the user's own affair; under sudo it is rightly not to be seen.
check_cargo() {
    if [ -z "${SUDO_USER:-}" ] && ! command -v cargo >/dev/null 2>&1; then
        say "cargo is not on the PATH: install Rust 1.95 or newer (rustup), then run this again"
        exit 1
    fi
}

if [ -z "$missing" ]; then
    check_cargo
    exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
    say "missing:$missing"
    say "there is no apt-get here: install these with your system's package tool, without starting them"
    exit 1
fi

# Empty for root; else sudo, if it asks for no password.
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        say "missing:$missing"
        say "installing packages needs root; run this and start again:"
        say "    sudo sh deploy/setup.sh"
        exit 1
    fi
fi

# What this script has put in place for the time of the installation, to take away again.
made_policy=
made_cluster_conf=
# Units that ran before are none of our business afterwards.
ran_before=" "

is_running() {
    command -v systemctl >/dev/null 2>&1 && systemctl is-active --quiet "$1" 2>/dev/null
}

clean_up() {
    [ -z "$made_policy" ] || $as_root rm -f "$POLICY"
    if [ -n "$made_cluster_conf" ]; then
        # The package's own text takes the place of ours, as if we had never been here.
        $as_root rm -f "$CLUSTER_CONF"
        [ ! -f "$CLUSTER_CONF_SHIPPED" ] || $as_root cp "$CLUSTER_CONF_SHIPPED" "$CLUSTER_CONF"
    fi
    made_policy=
    made_cluster_conf=
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

for unit in postgresql rabbitmq-server epmd.socket epmd; do
    ! is_running "$unit" || ran_before="$ran_before$unit "
done

# Packages ask this program whether they may start a service; 101 says no.
if [ ! -e "$POLICY" ]; then
    made_policy=yes
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$POLICY" >/dev/null
    $as_root chmod 755 "$POLICY"
fi
# Debian's PostgreSQL would make a data folder of its own and start it.
case " $missing " in
*" postgresql "*)
    if [ ! -e "$CLUSTER_CONF" ]; then
        made_cluster_conf=yes
        $as_root mkdir -p "$(dirname "$CLUSTER_CONF")"
        printf 'create_main_cluster = false\n' | $as_root tee "$CLUSTER_CONF" >/dev/null
    fi
    ;;
esac

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y -o "DPkg::Lock::Timeout=$LOCK_LIMIT" -o Dpkg::Use-Pty=0 "$@" >&2
}

say "installing:$missing"
apt -o APT::Update::Error-Mode=any update || say "the package lists could not all be renewed; trying with these"
# A conffile that we made ourselves is kept without a question. Splitting is wanted here.
# shellcheck disable=SC2086
apt -o Dpkg::Options::=--force-confold install --no-install-recommends $missing

# Where something started all the same, it is stopped; what ran before is left alone.
for unit in rabbitmq-server epmd.socket epmd postgresql; do
    case "$ran_before" in
    *" $unit "*) ;;
    *) ! is_running "$unit" || $as_root systemctl stop "$unit" ;;
    esac
done
clean_up

has_postgres || { say "PostgreSQL is installed, but no server lies in /usr/lib/postgresql"; exit 1; }
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || {
    say "RabbitMQ is installed, but there is no /usr/lib/rabbitmq/bin/rabbitmq-server"
    exit 1
}
say "done; no service was left running"
check_cargo
