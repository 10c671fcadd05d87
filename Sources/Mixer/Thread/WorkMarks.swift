import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Whose media is being decoded at this moment, in a file that outlives the process.
///
/// Decoders are the part of a mixer into which strangers' bits go, and the likeliest to end it. Each decode thread marks
/// its host here before a packet and takes the mark away behind it; after the process's death whoever supervises it
/// reads whose packets were under way. The file is mapped, so a mark is one store and no call of the kernel.
public final class WorkMarks: @unchecked Sendable {
    // Unchecked for the pointer alone: its memory is mapped for as long as this object lives, and each mark in it is
    // an atomic byte; names are written under the lock before their mark is handed out.

    /// A byte that is the mark, and behind it a name up to the next zero.
    private static let slotSize = 64
    private static let slotCount = 64
    private static let size = slotSize * slotCount

    private let base: UnsafeMutableRawPointer
    private let taken = Mutex<Set<Int>>([])

    /// Makes the file, empty; nil when that cannot be done, for a program can go on without it.
    public init?(path: String) {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard ftruncate(file, off_t(Self.size)) == 0,
            let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            memory != UnsafeMutableRawPointer(bitPattern: -1)
        else { return nil }
        base = memory
    }

    deinit {
        munmap(base, Self.size)
    }

    /// The mark of `name`; nil when there is no place for another one, or for so long a name.
    func mark(for name: String) -> WorkMark? {
        guard name.utf8.count < Self.slotSize - 1 else { return nil }
        return taken.withLock { taken in
            guard let slot = (0..<Self.slotCount).first(where: { !taken.contains($0) }) else { return nil }
            taken.insert(slot)
            let start = base + slot * Self.slotSize
            start.initializeMemory(as: UInt8.self, repeating: 0, count: Self.slotSize)
            (start + 1).copyMemory(from: Array(name.utf8), byteCount: name.utf8.count)
            return WorkMark(self, slot: slot)
        }
    }

    fileprivate func set(_ slot: Int, _ isMarked: Bool) {
        let mark = (base + slot * Self.slotSize).assumingMemoryBound(to: Atomic<UInt8>.self)
        mark.pointee.store(isMarked ? 1 : 0, ordering: .sequentiallyConsistent)
    }

    fileprivate func giveBack(_ slot: Int) {
        set(slot, false)
        taken.withLock { _ = $0.remove(slot) }
    }

    /// The names that are marked in a file, of a process that lives or has died; none when there is no such file.
    public static func marked(in path: String) -> [String] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: size)
        guard read(file, &bytes, size) == size else { return [] }
        return (0..<slotCount).compactMap { slot in
            let place = bytes[slot * slotSize..<(slot + 1) * slotSize]
            guard place.first == 1 else { return nil }
            return String(decoding: place.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The mark of one host, for the thread that works for it; its place is free again when nobody holds it any more.
final class WorkMark: Sendable {
    private let marks: WorkMarks
    private let slot: Int

    fileprivate init(_ marks: WorkMarks, slot: Int) {
        self.marks = marks
        self.slot = slot
    }

    deinit {
        marks.giveBack(slot)
    }

    /// What comes now is for this host.
    func begin() { marks.set(slot, true) }

    /// It is done.
    func end() { marks.set(slot, false) }
}
