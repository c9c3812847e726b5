"""What is missing on a host without Python; its log, and the ends of nvidia-smi, as a shell tells of them."""

from tui.transport.faults.row import Row

# fmt: off
ROWS: dict[str, Row] = {
    "shell_no_python": Row("notice", False,
        "no python3 (3.8 or newer) on {host}: GPUs by nvidia-smi and the log alone; no processes, verdict, "
        "diagnosis or benchmark; name the server by --port and --log"),
    "shell_no_web": Row("notice", False,
        "neither curl nor wget on {host}: whether the server is ready is not known, only its log may tell"),
    "shell_no_benchmark": Row("notice", False,
        "no benchmark without python3 on the host: name the URL alone to measure from here"),
    "shell_no_diagnosis": Row("notice", False,
        "there is no python3 (3.8 or newer) on the host: a diagnosis needs tminus' agent, which runs in it"),
    "shell_no_group": Row("failed", False,
        "nvidia-smi is not started there: the shell leads no process group and setsid is missing, so it "
        "could be left behind"),
    # Its log.
    "shell_log_missing": Row("log", True,
        "{path} does not exist yet; waiting for it"),
    "shell_log_no_file": Row("log", True,
        "{path} is no file; name the file that the server writes to"),
    "shell_log_unreadable": Row("log", True,
        "{path} cannot be read by this user; trying again"),
    "shell_log_odd_name": Row("log", False,
        "a log whose path holds control characters cannot be read without python3"),
    "shell_log_beginning": Row("log", False,
        "the first {count} bytes of {path} were not read"),
    "shell_log_skipped": Row("log", False,
        "{count} of {path} are not read: skipped to its end, as asked"),
    "shell_log_truncated": Row("log", False,
        "{path} was truncated: what was written shortly before may be lost"),
    "shell_log_replaced": Row("log", False,
        "{path} is another file than before: lines of the one before may be lost"),
    # nvidia-smi: by the exit codes of its manual.
    "smi_questions": Row("failed", True,
        "nvidia-smi has ended (exit status 2): it takes none of the questions put to it: the driver may be "
        "very old."),
    "smi_not_available": Row("failed", True,
        "nvidia-smi has ended (exit status 3): what was asked is not available on these GPUs."),
    "smi_no_rights": Row("failed", True,
        "nvidia-smi has ended (exit status 4): this user may not ask: watch as a user who may open "
        "/dev/nvidiactl."),
    "smi_no_gpu": Row("absent", True,
        "nvidia-smi has ended (exit status 6): it shows no GPU; a container must be started with its GPUs "
        "(docker run --gpus all)."),
    "smi_power": Row("failed", True,
        "nvidia-smi has ended (exit status 8): a GPU's external power cables are not attached."),
    "smi_no_driver": Row("failed", True,
        "nvidia-smi has ended (exit status 9): the NVIDIA driver is not loaded; as root, run modprobe "
        "nvidia, and see dmesg if that fails."),
    "smi_interrupt": Row("failed", True,
        "nvidia-smi has ended (exit status 10): the driver has an interrupt problem with a GPU; see dmesg "
        "for NVRM."),
    "smi_no_library": Row("failed", True,
        "nvidia-smi has ended (exit status 12): libnvidia-ml.so.1 is missing; a container must be started "
        "with its GPUs."),
    "smi_old_library": Row("failed", True,
        "nvidia-smi has ended (exit status 13): the NVIDIA library is older than nvidia-smi; install both "
        "from one driver."),
    "smi_info_rom": Row("failed", True,
        "nvidia-smi has ended (exit status 14): a GPU's infoROM is corrupted; it still computes, but ask for "
        "its replacement."),
    "smi_gpu_lost": Row("failed", True,
        "nvidia-smi has ended (exit status 15): a GPU has fallen off the bus or cannot be reached; dmesg "
        "names the Xid."),
    "smi_not_allowed": Row("failed", True,
        "nvidia-smi has ended (exit status 126): this user may not run it."),
    "smi_own_error": Row("failed", True,
        "nvidia-smi has ended (exit status 255): it met an error of its own."),
    # By what else is seen of it.
    "smi_absent": Row("absent", False,
        "No nvidia-smi was found there, and without python3 nothing else tells of the GPUs. If the host has "
        "GPUs, install the driver's tools; a container must be started with its GPUs (docker run --gpus "
        "all)."),
    "smi_signal": Row("failed", True,
        "nvidia-smi was ended by signal {signal}."),
    "smi_ended": Row("failed", True,
        "nvidia-smi has ended: it ended without a word on why."),
    "smi_ended_with": Row("failed", True,
        "nvidia-smi has ended (exit status {code}): it ended without a word on why."),
    "smi_silent_at_first": Row("silent", True,
        "nvidia-smi has printed nothing for {seconds} s since it was started: the driver does not answer. "
        "It is not asked a second time meanwhile; dmesg may name an Xid."),
    "smi_silent": Row("silent", True,
        "nvidia-smi has printed nothing for {seconds} s since its last line: the driver does not answer. "
        "It is not asked a second time meanwhile; dmesg may name an Xid."),
    "smi_gpu_unlisted": Row("gpus", True,
        "nvidia-smi lists it no longer"),
    "smi_says": Row("gpus", True,
        "nvidia-smi says: {line}"),
    "smi_no_number": Row("gpus", True,
        "no number from nvidia-smi, so not known: {cells}"),
}
# fmt: on
