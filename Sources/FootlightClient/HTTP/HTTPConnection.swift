import Foundation
import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests by URLSession, each with a deadline; no cookies, no cache.
final class HTTPConnection: Sendable {
    private let session: URLSession
    private let clock: ClientClock

    init(clock: ClientClock) {
        self.clock = clock
        session = URLSession(configuration: .plain, delegate: RedirectsAsAnswers(), delegateQueue: nil)
    }

    deinit {
        // Whatever nobody waits for is cancelled by itself; see `EventConnection.cancel` for why not all at once.
        session.finishTasksAndInvalidate()
    }

    /// Sends a request and waits for the whole answer, wherever it is to be had; see `Redirect`.
    ///
    /// - Throws: 53000 when nobody answers, or not in time; 499 when the task is cancelled.
    func answer(to request: URLRequest, within deadline: Duration) async throws(StageError) -> HTTPAnswer {
        let end = clock.now() + deadline
        var (request, followed) = (request, 0)
        while true {
            let answer = try await answer(to: request, until: end)
            guard followed < Redirect.most,
                let next = Redirect.next(after: request, status: answer.status, location: answer.location)
            else { return answer }
            request = next
            followed += 1
        }
    }

    /// Sends one request.
    ///
    /// A transfer that nobody waits for is cancelled here, and not by the waiting task's own cancellation as
    /// `URLSession.data(for:)` does: in Foundation for Linux (6.3) that waits for the session's queue while it holds the
    /// task's lock, and the queue may be waiting for that lock to hand over an answer.
    private func answer(to request: URLRequest, until end: Duration) async throws(StageError) -> HTTPAnswer {
        let pending = PendingAnswer()
        let transfer = session.dataTask(with: request) { data, response, error in
            guard error == nil, let response = response as? HTTPURLResponse else {
                // No name, no route, nobody listening, no trust in the certificate, a line that breaks.
                return pending.settle(.failure(.callNotConnected))
            }
            pending.settle(.success(HTTPAnswer(response, body: data ?? Data())))
        }
        let timer = Task { [clock] in
            // Cancelled when the answer is there before.
            guard (try? await clock.sleep(until: end)) != nil else { return }
            pending.settle(.failure(.callNotConnected))
        }
        transfer.resume()
        let outcome = await pending.outcome()
        timer.cancel()
        if case .failure = outcome { transfer.cancel() }
        return try outcome.get()
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

extension HTTPAnswer {
    init(_ response: HTTPURLResponse, body: Data) {
        self.init(
            status: response.statusCode,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) },
            location: response.value(forHTTPHeaderField: "Location"),
            body: body
        )
    }
}
