import Foundation

/// Scans an unfinished recording for its complete fragments and their total duration.
///
/// Only box headers and fragment tables are read (ISO/IEC 14496-12 4.2, 8.8), not the media.
struct FragmentScanner: Equatable {
    /// The bytes up to the end of the last complete fragment.
    private(set) var bytes = 0
    /// The seconds from the beginning to the end of the last complete fragment, by the first track of each fragment.
    private(set) var duration = 0.0

    /// The maximum size of a `moof`, far above that of ten seconds at sixty frames per second.
    private static let largestTable: UInt64 = 4 << 20
    /// The maximum duration in seconds; a fragment beyond it is considered damaged.
    private static let longest = 1e9
    /// The ticks per second of the tracks by track ID.
    private var timescales: [UInt32: UInt32] = [:]

    /// Scans the file at `path`; an unreadable file has no complete fragments.
    init(path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        defer { try? file.close() }
        let size = (try? file.seekToEnd()) ?? 0
        var position: UInt64 = 0
        var pending: Double?
        while let box = Self.head(of: file, at: position), box.size >= 8, box.size <= size - position {
            let end = position + box.size
            switch box.type {
            case "moov":
                timescales = Self.timescales(in: Self.read(file, at: position, box.size))
                bytes = Int(end)
            case "moof":
                pending = endTime(of: Self.read(file, at: position, box.size))
            case "mdat":
                if let pending { duration = max(duration, pending) }
                pending = nil
                bytes = Int(end)
            default:
                bytes = Int(end)
            }
            position = end
        }
    }

    /// Returns the end time of a fragment's first track in seconds.
    private func endTime(of moof: Data) -> Double? {
        guard let traf = Boxes(moof).first("traf"),
            let header = Boxes(traf).first("tfhd"), let track = header.number(at: 12),
            let base = Boxes(traf).first("tfdt").flatMap({ $0.longNumber(at: 12) }),
            let run = Boxes(traf).first("trun"), let flags = run.number(at: 8), let count = run.number(at: 12),
            let timescale = timescales[track], timescale > 0
        else { return nil }
        let fixed = header.number(at: 16).map(UInt64.init) ?? 0
        var total: UInt64 = 0
        if flags & 0x100 == 0 {
            total = UInt64(count) * fixed
        } else {
            let width = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (Int(flags) & $1 != 0 ? 4 : 0) }
            for index in 0..<Int(count) {
                guard let length = run.number(at: 20 + index * width) else { break }
                total += UInt64(length)
            }
        }
        let end = (Double(base) + Double(total)) / Double(timescale)
        return end <= Self.longest ? end : nil
    }

    private static func timescales(in moov: Data) -> [UInt32: UInt32] {
        var found: [UInt32: UInt32] = [:]
        for track in Boxes(moov).all("trak") {
            guard let id = Boxes(track).first("tkhd")?.number(at: 20),
                let media = Boxes(track).first("mdia"),
                let timescale = Boxes(media).first("mdhd")?.number(at: 20)
            else { continue }
            found[id] = timescale
        }
        return found
    }

    private static func head(of file: FileHandle, at position: UInt64) -> (size: UInt64, type: String)? {
        let data = read(file, at: position, 8)
        guard data.count == 8, let size = data.number(at: 0) else { return nil }
        return (UInt64(size), String(decoding: data.suffix(4), as: UTF8.self))
    }

    private static func read(_ file: FileHandle, at position: UInt64, _ count: UInt64) -> Data {
        guard count <= largestTable, (try? file.seek(toOffset: position)) != nil,
            let data = try? file.read(upToCount: Int(count))
        else { return Data() }
        return data
    }
}

/// The child boxes of a box.
private struct Boxes {
    private let content: Data

    init(_ box: Data) {
        content = Data(box.dropFirst(8))
    }

    func first(_ type: String) -> Data? { all(type).first }

    func all(_ type: String) -> [Data] {
        var found: [Data] = []
        var rest = content
        while let size = rest.number(at: 0).map(Int.init), size >= 8, size <= rest.count {
            let box = Data(rest.prefix(size))
            if String(decoding: box.dropFirst(4).prefix(4), as: UTF8.self) == type { found.append(box) }
            rest = Data(rest.dropFirst(size))
        }
        return found
    }
}

extension Data {
    fileprivate func number(at offset: Int) -> UInt32? {
        guard offset >= 0, offset + 4 <= count else { return nil }
        return self[(startIndex + offset)..<(startIndex + offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    fileprivate func longNumber(at offset: Int) -> UInt64? {
        guard let high = number(at: offset), let low = number(at: offset + 4) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }
}
