"""Every option of OpenSSH's client configuration (ssh_config(5)), and who keeps it.

The names are those that ``ssh -G`` prints, in lower case. A name that is in no table here is one of a newer
or a patched ssh: where it is set, ssh itself makes the connection, so that none is ignored in silence.
"""

from collections.abc import Mapping, Sequence

Answer = Mapping[str, Sequence[str]]

RESOLVED = {
    "host": "its blocks are read by ssh -G",
    "match": "its blocks are read by ssh -G, and exec is run by it",
    "include": "read by ssh -G",
    "ignoreunknown": "read by ssh -G",
    "tag": "matched by ssh -G",
    "refuseconnection": "ssh -G refuses with its words",
    "canonicaldomains": "the name is made canonical by ssh -G",
    "canonicalizefallbacklocal": "the name is made canonical by ssh -G",
    "canonicalizehostname": "the name is made canonical by ssh -G",
    "canonicalizemaxdots": "the name is made canonical by ssh -G",
    "canonicalizepermittedcnames": "the name is made canonical by ssh -G",
}
"""Worked into the answer of ssh -G."""

KEPT = {
    "addkeystoagent": "the key is given to the agent once it is read, ask is asked by tminus itself",
    "addressfamily": "by the connection",
    "batchmode": "nothing is asked then",
    "certificatefile": "offered with their keys",
    "ciphers": "those of them that the library has, in their order",
    "compression": "zlib@openssh.com is asked for first",
    "connectionattempts": "by the connection, a second apart",
    "connecttimeout": "by the connection",
    "controlpath": "a connection that answers there is used",
    "fingerprinthash": "in the question about a host key",
    "globalknownhostsfile": "read for host keys",
    "gssapiauthentication": "ssh gets a try where the server takes a ticket and the library is refused",
    "gssapikeyexchange": "ssh gets a try where the host key is unknown",
    "hashknownhosts": "in what is added",
    "hostbasedauthentication": "ssh gets a try where the server takes that and the library is refused",
    "hostkeyalgorithms": "those of them that the library has, types known for the host first, as in ssh",
    "hostkeyalias": "by the look at host keys",
    "hostname": "by the connection",
    "identitiesonly": "by the order of the keys",
    "identityagent": "asked for keys",
    "identityfile": "offered in their order",
    "kbdinteractiveauthentication": "by the login",
    "kbdinteractivedevices": "named to the server",
    "kexalgorithms": "those of them that the library has, in their order",
    "macs": "those of them that the library has, in their order",
    "numberofpasswordprompts": "by the questions",
    "passwordauthentication": "by the login",
    "port": "by the connection",
    "preferredauthentications": "by the login",
    "proxycommand": "run by the shell",
    "proxyjump": "ssh -W goes through the list, where something is asked the library does",
    "pubkeyacceptedalgorithms": "keys and signatures of other kinds are not offered",
    "pubkeyauthentication": "by the login",
    "rekeylimit": "by the connection, its bytes as they are sent; the server counts the others",
    "requiredrsasize": "smaller keys are neither taken nor offered",
    "revokedhostkeys": "by the look at host keys",
    "sendenv": "sent with each command, where the server takes it (AcceptEnv), but for LANG and LC_*",
    "setenv": "sent with each command, where the server takes it (AcceptEnv)",
    "stricthostkeychecking": "by the look at host keys",
    "user": "by the login",
    "userknownhostsfile": "read for host keys, the first is written to",
}
"""Kept by tminus with its SSH library."""

OF_SSH_ALONE = {
    "bindaddress": "BindAddress",
    "bindinterface": "BindInterface",
    "casignaturealgorithms": "CASignatureAlgorithms",
    "checkhostip": "CheckHostIP",
    "knownhostscommand": "KnownHostsCommand",
    "nohostauthenticationforlocalhost": "NoHostAuthenticationForLocalhost",
    "pkcs11provider": "PKCS11Provider",
    "proxyusefdpass": "ProxyUseFdpass",
    "verifyhostkeydns": "VerifyHostKeyDNS",
}
"""Where they are set, ssh makes the connection; CASignatureAlgorithms where an authority is known for it."""

_FORWARDED = "a watch forwards nothing, and binds no port a second time"
_OWN_COMMAND = "a watch runs a command of its own, without a terminal"
_MASTER = "a watch makes no connection that others share"
_TICKET = "goes with the login by a ticket, which ssh makes"
IGNORED = {
    "channeltimeout": "the channel of a watch is never idle",
    "clearallforwardings": _FORWARDED,
    "controlmaster": _MASTER,
    "controlpersist": _MASTER,
    "dynamicforward": _FORWARDED,
    "enableescapecommandline": _OWN_COMMAND,
    "enablesshkeysign": "goes with the login by the host's key, which ssh makes",
    "escapechar": _OWN_COMMAND,
    "exitonforwardfailure": _FORWARDED,
    "forkafterauthentication": _OWN_COMMAND,
    "forwardagent": "no agent is lent to the host: a watch needs none there",
    "forwardx11": _FORWARDED,
    "forwardx11timeout": _FORWARDED,
    "forwardx11trusted": _FORWARDED,
    "gatewayports": _FORWARDED,
    "gssapiclientidentity": _TICKET,
    "gssapidelegatecredentials": _TICKET,
    "gssapikexalgorithms": _TICKET,
    "gssapirenewalforcesrekey": _TICKET,
    "gssapiserveridentity": _TICKET,
    "gssapitrustdns": _TICKET,
    "hostbasedacceptedalgorithms": "goes with the login by the host's key, which ssh makes",
    "hostbasedkeytypes": "goes with the login by the host's key, which ssh makes",
    "ipqos": "a mark on packets, which changes nothing that is said",
    "localcommand": "is for your own logins: a watch logs in by itself, again and again",
    "localforward": _FORWARDED,
    "loglevel": "what goes wrong is told in sentences",
    "logverbose": "what goes wrong is told in sentences",
    "obscurekeystroketiming": "no key that is typed crosses the link",
    "permitlocalcommand": "is for your own logins: a watch logs in by itself, again and again",
    "permitremoteopen": _FORWARDED,
    "remotecommand": _OWN_COMMAND,
    "remoteforward": _FORWARDED,
    "requesttty": _OWN_COMMAND,
    "securitykeyprovider": "a key on a token is left to ssh, which asks its provider",
    "serveralivecountmax": "a watch asks for signs of life itself, each 5 s",
    "serveraliveinterval": "a watch asks for signs of life itself, each 5 s",
    "sessiontype": _OWN_COMMAND,
    "stdinnull": _OWN_COMMAND,
    "streamlocalbindmask": _FORWARDED,
    "streamlocalbindunlink": _FORWARDED,
    "syslogfacility": "what goes wrong is told in sentences",
    "tcpkeepalive": "a watch asks for signs of life itself, each 5 s",
    "tunnel": _FORWARDED,
    "tunneldevice": _FORWARDED,
    "updatehostkeys": "your own logins learn further keys of a host; known ones are judged all the same",
    "versionaddendum": "a word to the server that nothing hangs on",
    "visualhostkey": "a picture beside the fingerprint",
    "warnweakcrypto": "a warning",
    "xauthlocation": _FORWARDED,
}
"""Of no effect, and why that harms nothing."""

_NEUTRAL = {
    "stdinnull": "StdinNull=no",
    "forkafterauthentication": "ForkAfterAuthentication=no",
    "sessiontype": "SessionType=default",
}


_AGREED_ON = {
    "ciphers": "Ciphers",
    "macs": "MACs",
    "kexalgorithms": "KexAlgorithms",
    "hostkeyalgorithms": "HostKeyAlgorithms",
}


def is_classified(name: str) -> bool:
    """Say whether a name that ssh -G prints stands in a table here."""
    return any(name in table for table in (RESOLVED, KEPT, OF_SSH_ALONE, IGNORED))


def left_to_ssh(answer: Answer, usual: Answer) -> tuple[str, ...]:
    """Return what is set otherwise than ``usual`` and only ssh can keep; unknown options among it."""
    apart = [name for name in dict.fromkeys((*answer, *usual)) if answer.get(name) != usual.get(name)]
    return tuple(
        OF_SSH_ALONE.get(name, name) for name in apart if name in OF_SSH_ALONE or not is_classified(name)
    )


def narrowed(answer: Answer, usual: Answer) -> tuple[str, ...]:
    """Name the lists of algorithms that are set otherwise than ``usual`` and that both ends must agree on."""
    return tuple(said for name, said in _AGREED_ON.items() if answer.get(name) != usual.get(name))


def neutral(usual: Answer) -> tuple[str, ...]:
    """Return the options with which this ssh runs one command with its input; older ones have none."""
    return tuple(word for name, setting in _NEUTRAL.items() if name in usual for word in ("-o", setting))
