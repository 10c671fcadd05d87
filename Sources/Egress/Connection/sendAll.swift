import Glibc

/// Writes a batch to a blocking socket, with as few calls as the system allows; false when the connection is broken.
func sendAll(_ batch: MessageBatch, on socket: Int32) -> Bool {
    batch.withVectors { vectors in
        var first = 0
        while first < vectors.count {
            var message = msghdr()
            message.msg_iov = vectors.baseAddress.map { $0 + first }
            // IOV_MAX of limits.h.
            message.msg_iovlen = min(vectors.count - first, 1024)
            let sent = sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            first = skip(sent, of: vectors, from: first)
        }
        return true
    }
}

/// Leaves out what was sent, and what is empty; returns the first vector that is not.
private func skip(_ bytes: Int, of vectors: UnsafeMutableBufferPointer<iovec>, from first: Int) -> Int {
    var (bytes, index) = (bytes, first)
    while index < vectors.count, vectors[index].iov_len <= bytes {
        bytes -= vectors[index].iov_len
        index += 1
    }
    if bytes > 0 {
        vectors[index].iov_base = vectors[index].iov_base.map { $0 + bytes }
        vectors[index].iov_len -= bytes
    }
    return index
}
