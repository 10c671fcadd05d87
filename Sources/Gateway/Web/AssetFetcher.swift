import Assets
import Egress
import Foundation
import MixerProcess
import NIOCore
import OutboundHTTP
import Stage

/// Fetches assets over HTTP, each on a connection of its own.
///
/// URLs come from operators or, for avatars, from any participant, so that they could be used for server-side request
/// forgery: all addresses of a host name must be public unless the caller allows private ones, and the connection uses
/// a checked address. The same holds for each redirect. The gateway's own ports are never allowed.
struct AssetFetcher: Sendable {
    private static let maximumRedirects = 3
    /// The timeout of name resolution, in seconds.
    private static let lookUpTimeout = 5.0

    /// The rules for target addresses.
    private let targets: TargetResolver

    /// - Parameters:
    ///   - allowsPrivateAddresses: Whether private and loopback addresses are allowed, on any port.
    ///   - ownPorts: The gateway's own ports.
    init(allowsPrivateAddresses: Bool = false, ownPorts: Set<UInt16> = []) {
        targets = TargetResolver(
            TargetPolicy(
                allowsPrivateAddresses: allowsPrivateAddresses,
                allowedPorts: [80, 443, 8080, 8443],
                ownPorts: ownPorts
            )
        )
    }

    /// Fetches a URL, up to the size limit of uploads, with the connections on `group`.
    func fetch(
        url: String,
        _ kind: Asset.Kind = .image,
        on group: any EventLoopGroup
    ) async throws(AssetError) -> ByteBuffer {
        guard var target = OutboundTarget(assetURL: url) else {
            throw AssetError(.badAddress, "not an http or https URL")
        }
        let deadline = NIODeadline.now() + kind.fetchTimeout
        for _ in 0...Self.maximumRedirects {
            let response = try await request(target, kind, on: group, by: deadline)
            guard (300..<400).contains(response.status), let location = response.location else {
                return try response.content()
            }
            guard let next = target.redirected(to: location) else { break }
            target = next
        }
        throw AssetError(.badAddress, "the redirect must not be followed")
    }

    private func request(
        _ target: OutboundTarget,
        _ kind: Asset.Kind,
        on group: any EventLoopGroup,
        by deadline: NIODeadline
    ) async throws(AssetError) -> OutboundResponse {
        let limit = AssetStore.limit(of: kind)
        let request = OutboundRequest(
            .get,
            headers: [("User-Agent", "Footlight"), ("Accept", "*/*"), ("Connection", "close")],
            responseLimit: limit
        )
        let addresses = try await addresses(of: target, by: deadline)
        let response: OutboundResponse
        do {
            response = try await OutboundConnection.send(
                request,
                to: target,
                at: addresses,
                group: group,
                by: deadline
            ).response
        } catch {
            throw AssetError(error)
        }
        switch response.ending {
        case .complete: return response
        case .tooLarge: throw AssetError(.tooLarge, "more than \(limit) bytes")
        case .failed(let fault): throw AssetError(fault)
        }
    }

    /// Resolves a host name; fails unless all its addresses are allowed.
    private func addresses(of target: OutboundTarget, by deadline: NIODeadline) async throws(AssetError) -> [String] {
        let remaining = Double((deadline - .now()).nanoseconds) / 1e9
        do {
            let port = UInt16(clamping: target.port)
            return try await targets.addresses(of: target.host, port: port, within: min(remaining, Self.lookUpTimeout))
        } catch {
            throw AssetError(error.code == .forbiddenAddress ? .forbiddenAddress : .unreachable, error.message)
        }
    }
}

extension OutboundTarget {
    /// Parses an `http` or `https` URL without user information; nil for others.
    init?(assetURL url: String) {
        guard url.utf8.count <= 2048, let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil
        else { return nil }
        let isSecure: Bool
        switch parts.scheme?.lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        let port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { return nil }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        self.init(
            isSecure: isSecure,
            host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
            port: port,
            path: parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path
        )
    }

    /// Returns the target of a redirect; nil if it must not be followed.
    func redirected(to location: String) -> OutboundTarget? {
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            return OutboundTarget(isSecure: isSecure, host: host, port: port, path: location)
        }
        guard let next = OutboundTarget(assetURL: location), next.isSecure || !isSecure else { return nil }
        return next
    }
}

extension OutboundResponse {
    /// Returns the body of a successful response.
    ///
    /// - Throws: `AssetError` for any other status.
    fileprivate func content() throws(AssetError) -> ByteBuffer {
        if let error = AssetError(status: status) { throw error }
        return body
    }
}

extension AssetError {
    /// Makes the error for a request without a complete response.
    init(_ fault: OutboundFault) {
        switch fault {
        case .timedOut, .connectTimedOut: self.init(.unreachable, "took too long")
        case .malformed: self.init(.badAddress, "not an http or https URL")
        case .closed: self.init(.unreachable, "the connection is gone")
        case .tls: self.init(.unreachable, "the TLS handshake failed")
        case .unreachable: self.init(.unreachable, "the host refused the connection")
        }
    }
}
