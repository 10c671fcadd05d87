import Foundation
import Glibc
import Synchronization

/// A bad line: a TCP proxy on 127.0.0.1 that passes bytes on, or cuts, swallows or delays them as it is told.
///
/// One thread of its own moves the bytes; it ends with the value, and all connections with it.
public final class FaultProxy: Sendable {
    /// What becomes of connections and their bytes.
    public enum Mode: Sendable, Equatable {
        /// All goes through.
        case pass
        /// Connections are reset, and so is every new one.
        case cut
        /// Connections are accepted and stay, but nothing comes through; it goes on when the mode changes.
        case blackHole
        /// All goes through, so much later.
        case delay(Duration)
        /// All goes through, no more than so much a second each way.
        case slow(bytesPerSecond: Int)
    }

    /// The port of 127.0.0.1 to connect to.
    public let port: Int

    private let settings: FaultProxySettings

    /// Listens, and passes on to a port of 127.0.0.1.
    ///
    /// - Throws: `ToolFailure` when it cannot listen.
    public init(to target: Int, mode: Mode = .pass) throws {
        let (listener, port) = try LoopbackSocket.listen()
        self.port = port
        settings = FaultProxySettings(mode: mode, target: target)
        let loop = FaultProxyLoop(listener: listener, settings: settings)
        Thread.detachNewThread { loop.run() }
    }

    deinit { close() }

    /// What becomes of connections now; a change counts within milliseconds.
    public var mode: Mode {
        get { settings.mode }
        set { settings.mode = newValue }
    }

    /// The port of 127.0.0.1 that new connections lead to.
    public var target: Int {
        get { settings.target }
        set { settings.target = newValue }
    }

    /// Connections accepted so far, those that were cut at once included.
    public var connectionCount: Int { settings.connectionCount }

    /// Whether somebody has asked something of which no answer has come through yet, as of some milliseconds ago.
    ///
    /// False while the line is cut or swallows everything. A test that moves a clock by hand lets it stand meanwhile, or
    /// a machine that is slow at that moment would cost the asker its whole deadline.
    public var isAnswerDue: Bool { settings.isAnswerDue }

    /// Ends all connections and listens no more.
    public func close() {
        settings.isOver = true
    }
}
