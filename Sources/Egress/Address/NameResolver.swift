import Glibc
import Media

/// Turns a host name into its addresses, by the deadline.
typealias NameResolving =
    @Sendable (_ host: String, _ port: UInt16, _ deadline: MonotonicTime) throws(PushError) ->
    [NetworkAddress]

/// Asks the system's resolver, on a thread that can be left behind.
///
/// `getaddrinfo` cannot be cancelled and may take half a minute. Each push has its own resolver, which has at most one
/// question open: while an abandoned one still runs, further questions fail at once.
final class NameResolver: Sendable {
    private struct Question: Sendable {
        var isOpen = false
        var number = 0
        var answer: Result<[NetworkAddress], PushError>?
    }

    private let latch = Latch(Question())

    func resolve(
        _ host: String,
        port: UInt16,
        deadline: MonotonicTime,
        isStopped: () -> Bool = { false }
    ) throws(PushError) -> [NetworkAddress] {
        if let literal = NetworkAddress(literal: host, port: port) { return [literal] }
        let number: Int? = latch.update { question in
            guard !question.isOpen else { return nil }
            question.isOpen = true
            question.number += 1
            question.answer = nil
            return question.number
        }
        guard let number else { throw PushError(.nameNotFound, "the name server has not answered for \(host)") }

        let latch = latch
        let isRunning = spawnThread(named: "resolve") {
            let answer = Self.ask(host, port: port)
            latch.update { question in
                question.isOpen = false
                if question.number == number { question.answer = answer }
            }
        }
        guard isRunning else {
            latch.update { $0.isOpen = false }
            throw PushError(.local, "no thread to resolve \(host)")
        }
        while MonotonicTime.now() < deadline, !isStopped() {
            let slice = min(deadline, .now().advanced(milliseconds: 50))
            if let answer = latch.wait(until: slice, { $0.answer }) { return try answer.get() }
        }
        throw PushError(.nameNotFound, "the name server did not answer for \(host) in time")
    }

    private static func ask(_ host: String, port: UInt16) -> Result<[NetworkAddress], PushError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            return .failure(PushError(.nameNotFound, "\(host): \(String(cString: gai_strerror(status)))"))
        }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next {
            if let raw = entry.pointee.ai_addr,
                let address = NetworkAddress(raw, length: entry.pointee.ai_addrlen, port: port),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        return .success(addresses)
    }
}
