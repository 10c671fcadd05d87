/// What one server needed for one crowd.
struct FanOutFigures {
    /// Processor milliseconds per viewer and second.
    var processor = 0.0
    /// What the crowd adds to the same of all the machine beside the server and this program: what the kernel sends later
    /// than the server wrote it, and billed to nobody.
    var rest = 0.0
    /// Processor milliseconds per second with the stream and without viewers.
    var idle = 0.0
    /// Processor milliseconds per viewer for coming, being let in, and the first seven seconds of watching.
    var coming = 0.0
    /// Resident memory in MiB with the stream and one viewer, after as long as a crowd is watched for.
    var alone = 0.0
    /// What a crowd adds to that, in KiB per viewer.
    var memory = 0.0
    /// Milliseconds from connecting to the first key picture.
    var firstKey = Samples()
    /// Milliseconds from the publisher to a viewer.
    var delay = Samples()
    /// Bytes that reached the crowd, of those that were due.
    var delivered = 0.0

    /// Processor milliseconds per viewer and second, wherever they were billed.
    var sending: Double { processor + rest }
}
