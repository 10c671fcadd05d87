import Foundation
import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests by URLSession, each with a deadline; no cookies, no cache.
final class HTTPConnection: Sendable {
    private let session: URLSession
    private let deadline: Duration
    private let clock: ClientClock

    init(deadline: Duration, clock: ClientClock) {
        self.deadline = deadline
        self.clock = clock
        session = URLSession(configuration: .plain)
    }

    deinit {
        session.invalidateAndCancel()
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// - Throws: 53000 when nobody answers, or not in time; 499 when the task is cancelled.
    func answer(to request: URLRequest) async throws(StageError) -> HTTPAnswer {
        let outcome = await withTaskGroup(of: Result<HTTPAnswer, StageError>.self) { group in
            group.addTask { [session] in await Self.load(request, session) }
            group.addTask { [clock, deadline] in
                do {
                    try await clock.sleep(deadline)
                    return .failure(.callNotConnected)
                } catch {
                    return .failure(.requestCancelled)
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.callNotConnected)
        }
        return try outcome.get()
    }

    private static func load(_ request: URLRequest, _ session: URLSession) async -> Result<HTTPAnswer, StageError> {
        do {
            let (data, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { return .failure(.callNotConnected) }
            return .success(HTTPAnswer(status: response.statusCode, retryAfter: response.retryAfter, body: data))
        } catch {
            // No name, no route, nobody listening, no trust in the certificate, a line that breaks: all are 53000.
            return .failure(Task.isCancelled ? .requestCancelled : .callNotConnected)
        }
    }
}

extension URLSessionConfiguration {
    /// Nothing that is kept between requests.
    static var plain: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }
}

extension HTTPURLResponse {
    var retryAfter: Int? {
        value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
    }
}
