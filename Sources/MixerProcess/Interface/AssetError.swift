import Assets
package import NIOCore
import NIOHTTP1
package import Stage

/// An error of an asset fetch.
package struct AssetError: Error, Equatable, CustomStringConvertible {
    package enum Code: Equatable, Sendable {
        /// The URL is not supported.
        case badAddress
        /// The host resolves to a forbidden address.
        case forbiddenAddress
        /// The server refused the request.
        case refused
        /// The content exceeds the size limit.
        case tooLarge
        /// The request timed out, or the connection failed.
        case unreachable
    }

    package let code: Code
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Makes the error for an unusable status; nil for 200.
    package init?(status: Int) {
        guard status != 200 else { return nil }
        // These statuses are temporary.
        let isTemporary = status == 429 || status >= 500
        self.init(isTemporary ? .unreachable : .refused, "status \(status)")
    }

    /// The reason, for the log.
    package var description: String { reason }

    /// Whether a prompt retry would fail the same way.
    package var isFinal: Bool { code != .unreachable }
}

extension Asset.Kind {
    /// The timeout of a fetch, which is longer for larger kinds.
    package var fetchTimeout: TimeAmount {
        switch self {
        case .image: .seconds(5)
        case .sound: .seconds(30)
        }
    }
}

extension GatewaySource {
    /// Fetches an uploaded asset, or one that the gateway fetches in turn, from this path.
    ///
    /// - Parameter reserve: Time in addition to the timeout of its kind.
    func asset(_ kind: Asset.Kind, reserve: TimeAmount = .zero, on loop: any EventLoop) -> EventLoopFuture<ByteBuffer> {
        let limit = AssetStore.limit(of: kind)
        let timeout = kind.fetchTimeout + reserve
        return exchange(
            .GET,
            fields: [("User-Agent", "Footlight"), ("Accept", "*/*")],
            limit: limit,
            within: timeout,
            on: loop
        )
        .flatMapErrorThrowing { error in
            if case GatewayRequestError.tooLarge = error { throw AssetError(.tooLarge, "more than \(limit) bytes") }
            throw AssetError(.unreachable, "\(error)")
        }
        .flatMapThrowing { response in
            if let error = AssetError(status: response.status) { throw error }
            return response.body
        }
    }
}
