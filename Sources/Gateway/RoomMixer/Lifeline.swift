import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// The socket on standard input that ties a mixer to the gateway that started it.
enum Lifeline {
    /// Ends this process as soon as the other end of the socket is closed, whatever else it is doing.
    static func watch() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { exit(0) }
            }
        }
    }
}
