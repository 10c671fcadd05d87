/// What one server needed for requests of one kind.
struct HLSFigures {
    /// Answers a second.
    var rate = 0.0
    /// KiB of an answer, its header included.
    var size = 0.0
    /// Processor microseconds of an answer, without what the server uses without viewers.
    var cost = 0.0
    /// The same of all the machine beside this program: with what the kernel sends later than the server wrote it, and
    /// billed to nobody.
    var machineCost = 0.0
    /// Processor milliseconds per viewer and second, as `cost`.
    var viewerCost = 0.0
    /// Resident memory per viewer in KiB.
    var memory = 0.0
    /// Milliseconds from connecting to the last byte of what the first picture is in.
    var firstPicture = Samples()
    /// Milliseconds from the publisher's last picture of a part to that part's last byte.
    var delay = Samples()
}
