import Dispatch

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// SIGINT and SIGTERM, the first of which asks politely; the second one ends the process as ever.
@MainActor
final class Interruption {
    private static let signals = [SIGINT, SIGTERM]
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter body: Called at the first signal.
    init(_ body: @escaping @MainActor () -> Void) {
        for number in Self.signals {
            // The source hears of a signal only where the signal does nothing by itself.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { [weak self] in
                MainActor.assumeIsolated {
                    self?.end()
                    body()
                }
            }
            source.resume()
            sources.append(source)
        }
    }

    /// From now on signals do again what they always do.
    func end() {
        for source in sources { source.cancel() }
        sources = []
        for number in Self.signals { signal(number, SIG_DFL) }
    }
}
