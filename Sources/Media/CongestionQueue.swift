import NIOCore

/// Packets waiting for a target that may be slower than the program, and the rules by which they are given up.
///
/// A live push must stay close to the present, so what cannot be sent in time is dropped, the least missed first:
/// pictures no other picture refers to, then every picture up to the next key picture. Sound, configuration and key
/// pictures stay until the queue meets a hard limit; then the oldest groups of pictures go, and sound beyond its age.
///
/// Ages are differences of packet timestamps (milliseconds, decode time on the program's clock), never of wall time.
public struct CongestionQueue: Sendable {
    /// When to drop what.
    public struct Limits: Sendable, Equatable {
        /// Milliseconds of waiting media above which disposable pictures are dropped.
        public var disposable: Int64
        /// Milliseconds above which all pictures are dropped until the next key picture.
        public var pictures: Int64
        /// Milliseconds above which sound and whole groups of pictures are dropped too.
        public var sound: Int64
        /// Bytes of packet bodies that the queue never exceeds.
        public var bytes: Int
        /// Milliseconds above which key pictures are dropped with all others, so that what is left of a bad line
        /// carries sound; never by default.
        public var keyPictures: Int64

        /// Limits that suit a live push; the parameters are the properties.
        public init(
            disposable: Int64 = 700,
            pictures: Int64 = 900,
            sound: Int64 = 5000,
            bytes: Int = 8 << 20,
            keyPictures: Int64 = .max
        ) {
            self.disposable = disposable
            self.pictures = pictures
            self.sound = sound
            self.bytes = bytes
            self.keyPictures = keyPictures
        }
    }

    /// How many packets were given up, by kind.
    public struct Drops: Sendable, Equatable {
        /// Pictures no other picture refers to.
        public var disposablePictures: UInt64 = 0
        /// Pictures others refer to.
        public var pictures: UInt64 = 0
        /// Pictures a decoder could have started with.
        public var keyPictures: UInt64 = 0
        /// Coded audio frames.
        public var sounds: UInt64 = 0
        /// Configuration that a newer one of its kind replaced while both waited.
        public var configurations: UInt64 = 0

        /// All of them.
        public var total: UInt64 { allPictures + sounds + configurations }

        /// Pictures of every kind.
        public var allPictures: UInt64 { disposablePictures + pictures + keyPictures }

        /// Nothing dropped yet.
        public init() {}
    }

    /// When what is dropped.
    public let limits: Limits
    /// What was given up since the queue was made.
    public private(set) var dropped = Drops()
    /// Bytes of all waiting packet bodies.
    public private(set) var bytes = 0
    /// Pictures are refused until a key picture comes, for one they refer to is gone.
    public private(set) var isWaitingForKeyPicture = false

    private var packets = CircularBuffer<MediaPacket>()

    /// An empty queue.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Packets that wait.
    public var count: Int { packets.count }

    /// Nothing waits.
    public var isEmpty: Bool { packets.isEmpty }

    /// The packet that `popFirst` gives next.
    public var first: MediaPacket? { packets.first }

    /// Milliseconds from the oldest to the newest waiting packet; configuration, which may be older, aside.
    public var span: Int64 {
        guard let last = packets.last else { return 0 }
        return age(at: last)
    }

    /// Adds a packet at the end and drops what the limits no longer allow; the packet itself may be among it.
    public mutating func append(_ packet: MediaPacket) {
        if case .picture(_, let isKey, let isDisposable) = packet.content {
            if isKey {
                isWaitingForKeyPicture = false
            } else if isWaitingForKeyPicture {
                count(dropOf: packet)
                return
            } else if isDisposable, age(at: packet) > limits.disposable {
                count(dropOf: packet)
                drop { $0.isDisposablePicture }
                return
            }
        }
        packets.append(packet)
        bytes += packet.body.readableBytes
        if span > limits.disposable { thinOut() }
        if bytes > limits.bytes || span > limits.sound { cutBack() }
    }

    /// Takes the oldest packet.
    public mutating func popFirst() -> MediaPacket? {
        guard let packet = packets.popFirst() else { return nil }
        bytes -= packet.body.readableBytes
        return packet
    }

    /// Forgets everything that waits, without counting it as dropped, and takes any packet next.
    public mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        bytes = 0
        isWaitingForKeyPicture = false
    }

    private func age(at packet: MediaPacket) -> Int64 {
        guard let first = packets.first(where: { !$0.isConfiguration }) else { return 0 }
        return max(0, packet.timestamp - first.timestamp)
    }

    /// The soft rules: only pictures that can be missed go.
    private mutating func thinOut() {
        drop { $0.isDisposablePicture }
        guard span > limits.pictures else { return }
        let lastKey = packets.lastIndex { $0.isKeyPicture }
        let endsInPictures = packets.indices.contains { index in
            packets[index].isDependentPicture && (lastKey.map { index > $0 } ?? true)
        }
        drop { $0.isDependentPicture }
        // Only a gap after the newest key picture reaches into the future.
        if endsInPictures { isWaitingForKeyPicture = true }
        if span > limits.keyPictures, packets.contains(where: \.isPicture) {
            drop { $0.isPicture }
            isWaitingForKeyPicture = true
        }
    }

    /// The hard rules: whole groups of pictures from the oldest, sound by age, then anything but what is newest.
    private mutating func cutBack() {
        guard let newest = packets.last else { return }
        let oldestSound = newest.timestamp - limits.sound
        drop { $0.isSound && $0.timestamp < oldestSound }
        while bytes > limits.bytes || span > limits.sound, dropOldestGroup() {}
        if bytes > limits.bytes || span > limits.sound { dropReplacedConfiguration() }
        if bytes > limits.bytes { drop { $0.isSound } }
        if bytes > limits.bytes { drop { $0.isConfiguration } }
    }

    /// Drops the pictures before the second key picture, or all of them; false when there are none.
    private mutating func dropOldestGroup() -> Bool {
        guard let start = packets.firstIndex(where: { $0.isPicture }) else { return false }
        let next = packets[packets.index(after: start)...].firstIndex { $0.isKeyPicture }
        let end = next ?? packets.endIndex
        var kept = CircularBuffer<MediaPacket>(initialCapacity: packets.count)
        for index in packets.indices {
            let packet = packets[index]
            if index < end, packet.isPicture { count(dropOf: packet) } else { kept.append(packet) }
        }
        replace(with: kept)
        if next == nil { isWaitingForKeyPicture = true }
        return true
    }

    /// Of several waiting configurations of one kind only the newest matters once the media between them is gone.
    private mutating func dropReplacedConfiguration() {
        var seen: [MediaPacket.Content] = []
        var kept: [MediaPacket] = []
        for packet in packets.reversed() {
            if packet.isConfiguration {
                if seen.contains(packet.content) {
                    count(dropOf: packet)
                    continue
                }
                seen.append(packet.content)
            }
            kept.append(packet)
        }
        replace(with: CircularBuffer(kept.reversed()))
    }

    private mutating func drop(where isUnwanted: (MediaPacket) -> Bool) {
        guard packets.contains(where: isUnwanted) else { return }
        var kept = CircularBuffer<MediaPacket>(initialCapacity: packets.count)
        for packet in packets {
            if isUnwanted(packet) { count(dropOf: packet) } else { kept.append(packet) }
        }
        replace(with: kept)
    }

    private mutating func replace(with kept: CircularBuffer<MediaPacket>) {
        packets = kept
        bytes = kept.reduce(0) { $0 + $1.body.readableBytes }
    }

    private mutating func count(dropOf packet: MediaPacket) {
        switch packet.content {
        case .picture(_, isKey: true, _): dropped.keyPictures += 1
        case .picture(_, isKey: false, isDisposable: true): dropped.disposablePictures += 1
        case .picture, .videoEnd: dropped.pictures += 1
        case .sound: dropped.sounds += 1
        case .metadata, .videoConfiguration, .audioConfiguration: dropped.configurations += 1
        }
    }
}

extension MediaPacket {
    fileprivate var isPicture: Bool {
        switch content {
        case .picture, .videoEnd: true
        case .metadata, .videoConfiguration, .audioConfiguration, .sound: false
        }
    }

    fileprivate var isSound: Bool {
        if case .sound = content { true } else { false }
    }

    fileprivate var isDisposablePicture: Bool {
        if case .picture(_, isKey: false, isDisposable: true) = content { true } else { false }
    }

    /// A picture that is neither a key picture nor free to go by itself.
    fileprivate var isDependentPicture: Bool {
        if case .picture(_, isKey: false, isDisposable: false) = content { true } else { false }
    }
}
