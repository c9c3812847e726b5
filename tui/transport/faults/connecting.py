"""On the way to a host: its name, the network, its key, the login."""

from tui.transport.faults.row import Row

# fmt: off
ROWS: dict[str, Row] = {
    # Before connecting.
    "target": Row("usage", False,
        "{target!r} is no SSH host, because {why}: "
        "write host, user@host, user@host:port or ssh://user@host:port"),
    "config": Row("usage", False,
        "the SSH configuration could not be read for {target}: {why}; check it with: {command}"),
    "config_slow": Row("usage", False,
        "ssh -G did not answer within {seconds} s for {target}: "
        "look for a 'Match exec' that hangs in the SSH configuration"),
    "config_plain": Row("usage", False,
        "{file} says something for {target} that only OpenSSH's own ssh understands ({why}): "
        "install its client, or simplify that line"),
    "library": Row("usage", False,
        "the SSH library cannot be loaded ({why}): install tminus again, with its dependency asyncssh"),
    # On the way.
    "dns": Row("dns", False,
        "no address is known for {host} ({why}): check its spelling, the SSH configuration, or the VPN"),
    "refused": Row("refused", True,
        "{where} refused the connection: is an SSH server running there, and is {port} its port?"),
    "unreachable": Row("refused", True,
        "{where} cannot be reached from here ({why}): check the network, the VPN, or a firewall"),
    "timeout": Row("timeout", True,
        "{where} did not answer within {seconds} s: "
        "check that the host is up, and the VPN or a firewall on the way"),
    "login_timeout": Row("timeout", True,
        "{where} took the connection but did not finish the login within {seconds} s: "
        "it may be overloaded, or no SSH server; check the port"),
    "proxy": Row("refused", True,
        "the way to {where} failed: {command} said {why!r}; try that command by hand"),
    "proxy_ended": Row("refused", True,
        "the way to {where} failed: {command} ended {how} before a word of SSH came through it, and said "
        "nothing; try that command by hand"),
    "proxy_closed": Row("refused", True,
        "the way to {where} was closed before a word of SSH came through it ({command} ended with status 0 "
        "and said nothing): check the port; an SSH server does so when it has too many logins at once "
        "(MaxStartups)"),
    "proxy_silent": Row("timeout", True,
        "the way to {where} brought no answer within {seconds} s: {command} still runs and said nothing; "
        "try that command by hand"),
    "proxy_dns": Row("dns", False,
        "the way to {where} failed, because a name on it has no address: {command} said {why!r}; "
        "check that name"),
    "proxy_auth": Row("auth", False,
        "the way to {where} failed at its login: {command} said {why!r}; "
        "log in there once {by_hand}, or unlock its key with ssh-add"),
    "proxy_host_key": Row("host_key", False,
        "the way to {where} failed, because a host key on it is not known: {command} said {why!r}; "
        "log in there once {by_hand}"),
    "proxy_needs_shell": Row("usage", False,
        "the way to {where} is a ProxyCommand, which takes a shell that this machine has not ({command}): "
        "name a way with --ssh-cmd, or a ProxyJump"),
    "never_spoke": Row("refused", True,
        "{where} took the connection and ended it without speaking SSH ({why}): "
        "check the port; an SSH server does so when it has too many logins at once (MaxStartups)"),
    "not_ssh": Row("refused", False,
        "{where} answered, but not as an SSH server should ({why}): check the port"),
    "no_agreement": Row("refused", False,
        "{where} and this client have no cipher, key exchange or host key type in common ({why}): "
        "its SSH server may be too old, or its settings too narrow"),
    "no_agreement_here": Row("refused", False,
        "{where} and this client have no cipher, key exchange or host key type in common ({why}): "
        "{names} of the SSH configuration here may allow too little, or its SSH server may be too old"),
    "closed_early_here": Row("lost", True,
        "{where} closed the connection before a cipher was agreed on ({why}): "
        "{names} of the SSH configuration here may allow nothing that it has, or it refuses this address"),
    "closed_early": Row("lost", True,
        "{where} closed the connection during the login ({why}): "
        "it may refuse this address or user; its own log says why"),
    "disconnected": Row("lost", True,
        "{where} ended the login: {why!r}; its own log may say more"),
    # The host's key.
    "host_key_unknown": Row("host_key", False,
        "the host key of {where} is not known here: {algorithm} {fingerprint}; "
        "if that is the host's own, {how}: {command}"),
    "host_key_unknown_plain": Row("host_key", False,
        "the host key of {where} is not known here: {algorithm} {fingerprint}; "
        "if that is the host's own, {how} {file}: {line}"),
    "host_key_unknown_unkept": Row("host_key", False,
        "the host key of {where} is not known here: {algorithm} {fingerprint}; it can be kept nowhere, "
        "as UserKnownHostsFile of the SSH configuration is {kept}: name a file there, and if that is the "
        "host's own key, log in once with: {command}"),
    "host_key_declined": Row("host_key", False,
        "the host key of {where} was not agreed to: {algorithm} {fingerprint}; nothing was added"),
    "host_key_changed": Row("host_key", False,
        "THE HOST KEY OF {where} HAS CHANGED: it shows {algorithm} {fingerprint}, but {place} holds {known}; "
        "someone may be in between; only if you know why it changed, remove the old one with: {command}"),
    "host_key_other_type": Row("host_key", False,
        "the host key of {where} is of another type than the one known here: "
        "it shows {algorithm} {fingerprint}, but {place} holds {known}; "
        "someone may be in between; only if you know why, remove the old one with: {command}"),
    "host_key_changed_here": Row("host_key", False,
        "THE HOST KEY OF {where} HAS CHANGED since it was agreed to here: "
        "it shows {algorithm} {fingerprint}; "
        "someone may be in between; only if you know why it changed, end tminus and begin again"),
    "host_key_revoked": Row("host_key", False,
        "the host key of {where} is marked as revoked in {place}: {algorithm} {fingerprint}; "
        "do not log in there, and ask who runs it"),
    "host_key_small": Row("host_key", False,
        "the {algorithm} host key of {where} has {bits} bits, and RequiredRSASize of the SSH configuration "
        "wants {required}: ask its administrator for another key, or lower that setting for this host"),
    "host_certificate": Row("host_key", False,
        "the host certificate of {where} is not good ({why}): "
        "ask who runs it, or see the @cert-authority lines in known_hosts"),
    # The login.
    "auth": Row("auth", False,
        "{where} did not let {user} in; it takes {methods}: {tried}; try: {command}; "
        "where that fails as well, see AllowUsers, authorized_keys and PubkeyAcceptedAlgorithms there"),
    "auth_locked": Row("auth", False,
        "{where} takes a key of {user}, but it stays locked by a passphrase: {keys}; "
        "unlock it with: ssh-add {files}"),
    "too_many_keys": Row("auth", False,
        "{where} ended the login after too many keys: {tried}; "
        "name the right one with IdentityFile and IdentitiesOnly yes in the SSH configuration"),
    "unanswered": Row("auth", False,
        "{where} ended the login before its question was answered ({why}): "
        "it may wait only so long (LoginGraceTime); begin again and have the answer ready"),
    "given_up": Row("auth", False,
        "the login to {where} was given up: its question was left without an answer"),
}
# fmt: on
