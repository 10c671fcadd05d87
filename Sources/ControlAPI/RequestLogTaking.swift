public import GatewayModel
public import NIOCore
public import Stage

/// Who counts the viewers behind other servers by the logs of those, as the control API sees it.
public protocol RequestLogTaking: Sendable {
    /// Most bytes of a log as it is sent.
    var bodyLimit: Int { get }
    /// Takes a log, a line of JSON for each request, as it is or as a gzip file.
    ///
    /// - Parameters:
    ///   - name: Whose log it is.
    ///   - room: The one room, by unique name, that it may tell of; nil for all.
    ///   - body: Receives the log; called when it may be sent.
    /// - Throws: 53004 for what cannot be read, 53006 while too many are being read, 429 for a second one of the same
    ///   sender, and what `body` throws.
    func take(
        of name: String,
        room: String?,
        body: @Sendable () async throws(StageError) -> ByteBuffer
    ) async throws(StageError) -> LogReceiptResource
}
