import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Hands every redirect back as the answer that it is; `HTTPConnection` follows it by its own rules.
final class RedirectsAsAnswers: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
