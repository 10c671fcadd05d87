/// A tool that a test leans on did not do its work.
public struct ToolFailure: Error, CustomStringConvertible {
    /// What went wrong, in one sentence.
    public var what: String
    /// What the tool itself said, its last lines.
    public var log: String

    /// A failure with what the tool said.
    public init(_ what: String, log: String = "") {
        self.what = what
        self.log = log.split(separator: "\n", omittingEmptySubsequences: false).suffix(40).joined(separator: "\n")
    }

    /// The sentence, and the log below it.
    public var description: String { log.isEmpty ? what : what + "\n" + log }
}
