import Stage

/// What stands at the beginning of a recording of arrivals, after the mark and the version.
///
/// The file, version 5: `FLAR`, one byte of version, this head, and then entries until the end of the file. Numbers are
/// unsigned LEB128, or zig-zag of it where they may be negative; text and blocks of bytes have their length before
/// them. An entry begins with its kind:
///
/// - 1, a host's input: its id, its jitter target, and one byte, 1 for pictures that may stand still. Inputs are numbered
///   in the order of these entries.
/// - 2, a packet: the input's number; arrival minus that of the packet before, of any input, in nanoseconds; kind of
///   content; timestamp minus the input's last one; composition offset; header length; the body.
/// - 3, a change: the number of the program's steps made before it, and the change as JSON.
/// - 4, the end: one byte, 0 for a recording that was ended, 1 for one that had become too large or fell behind; and the
///   number of steps that the program had made.
/// - 5, a file that scenes name: its name, its bytes. Files are numbered in the order of these entries.
///
/// A file without an end was cut off with its process; all that is whole in it counts. In version 4, which is read too,
/// there was no change to a step of degradation: its scenes are what was left of them on the step they were shown on.
struct ArrivalHead: Codable, Sendable, Equatable {
    static let mark = Array("FLAR".utf8)
    static let version: UInt8 = 5
    /// Those that are read.
    static let versions: ClosedRange<UInt8> = 4...version

    var configuration: ProgramConfiguration
    /// Where the program's sample counter began.
    var firstSample: Int64

    enum Entry: UInt8 {
        case input = 1
        case packet = 2
        case change = 3
        case end = 4
        case file = 5
    }
}
