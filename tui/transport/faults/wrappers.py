"""The way into a container, a pod or a job that fails, told by the program's own words.

Exit codes do not tell: each program uses 1, 125, 126, 127 and 255 for several of these, and kubectl may end
with 0 when its link is cut. ``refused`` is tried again once the agent has run there, since containers and
pods come back under their names, ``agent`` and ``auth`` are not. A row's ``pattern`` is looked for in the
lines of the programs named in ``tools``; the first row that finds its words counts.
"""

from tui.transport.faults.row import Row

# fmt: off
ROWS: dict[str, Row] = {
    # docker and podman.
    "no_container": Row("refused", False,
        "there is no container {name} on {where}: see its name in `docker ps` there",
        tools="docker", pattern=r"No such container|no such container"),
    "no_container_podman": Row("refused", False,
        "there is no container {name} on {where}: see its name in `podman ps` there, as the user who started "
        "it, since Podman shows each user only their own",
        tools="podman", pattern=r"no such container"),
    "paused": Row("refused", False,
        "the container {name} on {where} is paused: go on with `{tool} unpause {name}`",
        tools="docker podman", pattern=r"is paused, unpause|container is paused"),
    "not_running": Row("refused", False,
        "the container {name} on {where} is not running: start it, or see why it ended with "
        "`{tool} logs {name}`",
        tools="docker podman",
        pattern=r"is not running|is restarting, wait|container state improper|on running containers"),
    "no_daemon_rights": Row("auth", False,
        "this user may not use {tool} on {where}: log in there as one who may (root, or a member of the "
        "group docker)",
        tools="docker podman",
        pattern=r"(?i)permission denied while trying to connect|permission denied.*(?:docker|podman)\.sock"),
    "no_daemon": Row("refused", False,
        "{tool} on {where} does not reach its daemon ({said}): start it, or set DOCKER_HOST or a context "
        "there",
        tools="docker podman",
        pattern=r"Cannot connect to the Docker daemon|failed to connect to the docker API"
        r"|Cannot connect to Podman"),
    # kubectl.
    "no_context": Row("usage", False,
        "kubectl on {where} knows no such context ({said}): see `kubectl config get-contexts` there",
        tools="kubectl", pattern=r"context .*(?:does not exist|was not found)|no context exists"),
    "no_namespace": Row("refused", False,
        "there is no such namespace in the cluster ({said}): see `kubectl get namespaces`",
        tools="kubectl", pattern=r'namespaces? "[^"]*" not found'),
    "no_pod": Row("refused", False,
        "there is no pod for {name}: see `kubectl get pods` in its namespace, and whether the context is "
        "right",
        tools="kubectl", pattern=r'pods? "[^"]*" not found|pod does not exist'),
    "no_container_in_pod": Row("usage", False,
        "the pod has no such container ({said}): see `kubectl describe pod`, or leave the container out",
        tools="kubectl", pattern=r"container \S+ is not valid for pod|container \S+ not found in pod"),
    "pod_over": Row("agent", False,
        "the pod of {name} has ended ({said}): name the one that runs now, see `kubectl get pods`",
        tools="kubectl", pattern=r"completed pod|current phase is (?:Succeeded|Failed)"),
    "pod_not_started": Row("refused", False,
        "the container of {name} does not run ({said}): see `kubectl describe pod`",
        tools="kubectl",
        pattern=r"container not found \(|container is not running|does not have a host assigned"
        r"|is not running|container not (?:running|created)|ContainerCreating"),
    "no_rights": Row("auth", False,
        "the cluster does not let this user run anything in {name} ({said}): it needs the right to create "
        "pods/exec there, or a new login",
        tools="kubectl",
        pattern=r"\(Forbidden\)|is forbidden|\(Unauthorized\)|must be logged in|getting credentials"),
    "pod_link_cut": Row("lost", True,
        "the link to {name} was cut ({said})",
        tools="kubectl",
        pattern=r"lost connection to pod|error reading from error stream|abnormal closure"
        r"|connection reset by peer|unexpected EOF|error sending request:.*timeout"),
    "no_cluster": Row("refused", False,
        "kubectl on {where} does not reach the cluster ({said}): check KUBECONFIG, the context and the "
        "network",
        tools="kubectl",
        pattern=r"The connection to the server .* was refused|Unable to connect to the server"
        r"|error dialing backend|dial tcp|no configuration has been provided"
        r"|couldn't get current server API"),
    # srun.
    "no_job": Row("agent", False,
        "there is no running job for {name}: it may be over; see `squeue --me` on {where}",
        tools="srun", pattern=r"Invalid job id|Expired or invalid job|already completing or completed"),
    "job_pending": Row("refused", True,
        "the job of {name} has not started: see `squeue --me` on {where}",
        tools="srun", pattern=r"[Jj]ob is pending|Job/step is pending"),
    "no_node": Row("usage", False,
        "the job of {name} has no such node ({said}): see its nodes in `squeue --me -o '%i %N'` on {where}",
        tools="srun",
        pattern=r"[Nn]ode configuration is not available|[Ii]nvalid node name|nodes? .*not (?:in|part of)"),
    "no_job_rights": Row("auth", False,
        "the job of {name} belongs to another user ({said}): log in on {where} as its owner",
        tools="srun", pattern=r"(?i)access/permission denied|invalid account"),
    "no_controller": Row("refused", True,
        "srun on {where} does not reach Slurm's controller ({said}): try `sinfo` there",
        tools="srun",
        pattern=r"(?i)unable to contact slurm controller|slurm_load|zero bytes were transmitted"),
    "step_ended": Row("lost", True,
        "the step in the job of {name} was ended ({said})",
        tools="srun",
        pattern=r"CANCELLED AT|DUE TO (?:TIME LIMIT|NODE FAILURE|PREEMPTION)|Job step aborted"
        r"|Force Terminated"),
    # All.
    "no_program": Row("refused", False,
        "{tool} was not found on {where}: install it, or put its folder into the PATH that sshd gives a "
        "command",
        tools="docker podman kubectl srun",
        pattern=r"(?:^|[\s:]){tool}: (?:command )?not found|{tool}: [Nn]o such file"
        r"|{tool}: [Pp]ermission denied|Unknown command.*{tool}"),
    "no_program_here": Row("refused", False,
        "{tool} was not found on this machine: install it, or name a HOST that has it"),
    "no_python_inside": Row("no_python", False,
        "there is no python3 in {place}: install it in the image, 3.8 or newer, or watch the host from "
        "outside",
        tools="docker podman kubectl srun",
        pattern=r"executable file .*not found|exec: .*no such file or directory|execve\(\): .*No such file"
        r"|python3: (?:command )?not found"),
    "killed_inside": Row("lost", True,
        "the agent in {place} was killed: the container may have been stopped, or its memory was full"),
    "not_started_inside": Row("agent", False,
        "{tool} could not start the agent in {place} (exit status {status}): {said}"),
}
# fmt: on
