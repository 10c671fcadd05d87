import Egress
import Glibc
import NIOCore
import NIOPosix

/// The checks of ports, certificates and outputs.
extension Doctor {
    /// The longest time for a connection to an output.
    private static let connectTimeout = TimeAmount.seconds(5)

    /// Binds each port for a moment; those of a gateway that runs on the data folder are its own.
    var portFindings: [Finding] {
        if let pid = DataDirectoryLock.holder(of: configuration.dataDirectory)?.pid {
            return [.ok("ports", "A gateway runs with this data folder (process \(pid)); its ports are not checked.")]
        }
        let ports = [
            ("rtmp.port", configuration.host, configuration.rtmpPort),
            ("http.port", configuration.host, configuration.httpPort),
            ("admin.port", "127.0.0.1", configuration.adminPort),
        ]
        let secure = [("https.port", configuration.httpsPort), ("rtmps.port", configuration.rtmpsPort)]
        let all = ports + secure.compactMap { key, port in port.map { (key, configuration.host, $0) } }
        let findings = all.compactMap { key, host, port in finding(key, host, port) }
        guard findings.isEmpty else { return findings }
        return [.ok("ports", all.map { "\($0.2)" }.joined(separator: ", ") + " are free.")]
    }

    private func finding(_ key: String, _ host: String, _ port: Int) -> Finding? {
        let address: SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(host, port: port)
        } catch {
            return .problem("ports", "\(host) is no address of this machine.", "Correct the setting host.")
        }
        let family = address.protocol == .inet6 ? AF_INET6 : AF_INET
        let socket = Glibc.socket(family, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        var reuse: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        let result = address.withSockAddr { pointer, size in bind(socket, pointer, socklen_t(size)) }
        guard result != 0 else { return nil }
        switch errno {
        case EADDRINUSE:
            return .problem("ports", "Another program uses port \(port).", "End it, or change \(key).")
        case EACCES:
            return .problem(
                "ports",
                "This user may not open port \(port).",
                "Change \(key), let systemd open the port (footlight.socket), or lower ip_unprivileged_port_start."
            )
        case EADDRNOTAVAIL:
            return .problem("ports", "\(host) is no address of this machine.", "Correct the setting host.")
        default:
            return .problem("ports", "Port \(port): \(String(cString: strerror(errno))).", "Change \(key).")
        }
    }

    /// Verifies the certificate of HTTPS and RTMPS as a client would; empty if neither is in use.
    public func certificateFindings() async -> [Finding] {
        guard configuration.httpsPort != nil || configuration.rtmpsPort != nil,
            let paths = CertificatePaths(configuration)
        else { return [] }
        return await CertificateCheck(paths: paths, name: name).findings()
    }

    /// Connects to an output's server and sends nothing.
    func reachability(of output: String) async -> Finding {
        let advice = "Check the address, name resolution, and the firewall for connections from this machine."
        let address: PushAddress
        do throws(PushError) {
            address = try PushAddress(url: output, streamKey: "doctor")
        } catch {
            return .problem("output", "\(output) is no address of an output: \(error).", advice)
        }
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(Self.connectTimeout)
                .connect(host: address.host, port: Int(address.port))
                .get()
            try? await channel.close()
            return .ok("output", "\(address.host):\(address.port) accepts connections.")
        } catch {
            return .problem("output", "\(address.host):\(address.port) cannot be reached.", advice)
        }
    }
}
