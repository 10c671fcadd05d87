import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Marks in a file that outlives the process which hosts' media is being decoded.
///
/// Decoders process untrusted data and are the most likely part of a mixer to crash. Each decode thread sets its host's
/// marker before a packet and clears it afterwards; after a crash the supervisor reads whose packets were being
/// decoded. The file is memory-mapped, so a marker is one store and no system call.
public final class DecodeMarkers: @unchecked Sendable {
    // Unchecked for the pointer alone: its memory is mapped as long as this object lives, and each marker in it is an
    // atomic byte; names are written under the lock before their marker is returned.

    /// One byte for the marker, followed by a zero-terminated name.
    private static let slotSize = 64
    private static let slotCount = 64
    private static let size = slotSize * slotCount

    private let base: UnsafeMutableRawPointer
    private let usedSlots = Mutex<Set<Int>>([])

    /// Makes the file, empty; nil when that fails, for a program can run without it.
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

    /// Returns the marker of `name`; nil when all slots are used, or the name is too long.
    func marker(for name: String) -> DecodeMarker? {
        guard name.utf8.count < Self.slotSize - 1 else { return nil }
        return usedSlots.withLock { usedSlots in
            guard let slot = (0..<Self.slotCount).first(where: { !usedSlots.contains($0) }) else { return nil }
            usedSlots.insert(slot)
            let start = base + slot * Self.slotSize
            start.initializeMemory(as: UInt8.self, repeating: 0, count: Self.slotSize)
            (start + 1).copyMemory(from: Array(name.utf8), byteCount: name.utf8.count)
            return DecodeMarker(self, slot: slot)
        }
    }

    fileprivate func set(_ slot: Int, _ isMarked: Bool) {
        let marker = (base + slot * Self.slotSize).assumingMemoryBound(to: Atomic<UInt8>.self)
        marker.pointee.store(isMarked ? 1 : 0, ordering: .sequentiallyConsistent)
    }

    fileprivate func release(_ slot: Int) {
        set(slot, false)
        usedSlots.withLock { _ = $0.remove(slot) }
    }

    /// Returns the marked names in the file of a live or dead process; none when there is no such file.
    public static func markedNames(in path: String) -> [String] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: size)
        guard read(file, &bytes, size) == size else { return [] }
        return (0..<slotCount).compactMap { slot in
            let slotBytes = bytes[slot * slotSize..<(slot + 1) * slotSize]
            guard slotBytes.first == 1 else { return nil }
            return String(decoding: slotBytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The marker of one host, used by its decode thread; its slot is freed when the last reference goes.
final class DecodeMarker: Sendable {
    private let markers: DecodeMarkers
    private let slot: Int

    fileprivate init(_ markers: DecodeMarkers, slot: Int) {
        self.markers = markers
        self.slot = slot
    }

    deinit {
        markers.release(slot)
    }

    /// Sets the marker before a packet is decoded.
    func begin() { markers.set(slot, true) }

    /// Clears the marker.
    func end() { markers.set(slot, false) }
}
