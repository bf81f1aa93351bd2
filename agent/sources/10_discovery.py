# ---------------------------------------------------------------------------------------------------------------------
# Discovery
# ---------------------------------------------------------------------------------------------------------------------

SCAN_TIMEOUT_SECONDS = 1
SCAN_PAUSE_SECONDS = 0.005


@subcommand(
    "scan", argument("--targets", required=True), argument("--ports", required=True), is_remote=True)
def scan(options):
    """Prints the hosts that accept TCP connections or are known as neighbours, as JSON."""
    addresses = []
    for target in options.targets.split(","):
        try:
            network = ipaddress.ip_network(target, strict=False)
        except ValueError as error:
            raise AgentError("%s is no address or network: %s" % (target, error))
        if network.num_addresses > MAX_SCANNED_ADDRESSES:
            raise AgentError("%s has more than %d addresses" % (target, MAX_SCANNED_ADDRESSES))
        addresses += [str(address) for address in network.hosts()] or [str(network.network_address)]
    addresses = list(dict.fromkeys(addresses))
    ports = sorted({int(port) for port in options.ports.split(",") if re.fullmatch("[0-9]{1,5}", port)})
    if len(addresses) > MAX_SCANNED_ADDRESSES or not 1 <= len(ports) <= MAX_SCANNED_PORTS or ports[-1] > 65535:
        raise AgentError("at most %d addresses and %d ports are scanned at once" % (
            MAX_SCANNED_ADDRESSES, MAX_SCANNED_PORTS))
    neighbours = {
        row[0] for row in (line.split() for line in read_text("/proc/net/arp").splitlines()[1:])
        if len(row) > 3 and row[2] != "0x0" and row[3] != "00:00:00:00:00:00"}
    found = {address: [] for address in addresses if address in neighbours}
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        tries = []
        for address in addresses:
            for port in ports:
                tries.append((address, port, pool.submit(accepts_connections, address, port)))
                time.sleep(SCAN_PAUSE_SECONDS)
        for address, port, result in tries:
            if result.result():
                found.setdefault(address, []).append(port)
    hosts = [{"address": address, "ports": found[address]} for address in addresses if address in found]
    say(canonical({"hosts": hosts, "scanned": len(addresses)}).decode())


def accepts_connections(address, port):
    try:
        socket.create_connection((address, port), SCAN_TIMEOUT_SECONDS).close()
        return True
    except OSError:
        return False


@subcommand("reach", argument("--targets", required=True), is_remote=True)
def reach(options):
    """Prints which addresses answer, and the shortest of three times that it took, as JSON."""
    targets = options.targets.split(",")
    matches = [re.fullmatch(r"\[?([0-9a-fA-F.:]+?)\]?:([0-9]{1,5})", target) for target in targets]
    if len(targets) > MAX_SCANNED_PORTS or not all(matches):
        raise AgentError("give at most %d targets, each as ADDRESS:PORT" % MAX_SCANNED_PORTS)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        times = list(pool.map(lambda match: measure(match.group(1), int(match.group(2))), matches))
    say(canonical({"peers": [
        {"target": target, "reachable": found is not None, "microseconds": found}
        for target, found in zip(targets, times)]}).decode())


def measure(address, port):
    """Returns microseconds until an answer, be it that nobody listens; None: there was no answer."""
    times = []
    for _ in range(3):
        begun = time.monotonic()
        try:
            socket.create_connection((address, port), SCAN_TIMEOUT_SECONDS).close()
        except ConnectionRefusedError:
            pass  # the machine answers
        except (OSError, OverflowError):
            continue
        times.append(int((time.monotonic() - begun) * 1e6))
    return min(times) if times else None


