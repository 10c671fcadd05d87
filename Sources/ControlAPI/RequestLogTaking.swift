public import GatewayModel
public import NIOCore
public import Stage

/// Who counts the viewers behind other servers by the logs of those, as the control API sees it.
public protocol RequestLogTaking: Sendable {
    /// Most bytes of a log as it is sent.
    var bodyLimit: Int { get }
    /// Takes a log, a line of JSON for each request.
    ///
    /// - Parameters:
    ///   - isCompressed: Whether it is a gzip file.
    ///   - name: Whose log it is.
    ///   - room: The one room, by unique name, that it may tell of; nil for all.
    /// - Throws: 53004 for what cannot be read, 53006 while too many are being read.
    func take(
        _ body: ByteBuffer,
        isCompressed: Bool,
        of name: String,
        room: String?
    ) async throws(StageError) -> LogReceiptResource
}
