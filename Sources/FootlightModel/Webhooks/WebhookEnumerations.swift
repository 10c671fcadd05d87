/// The state of a delivery.
public enum WebhookDeliveryState: String, Sendable, Hashable {
    /// Not delivered yet.
    case pending
    case delivered
    /// Given up: the message was rejected, or the endpoint was disabled.
    case failed
}

/// The kinds of outcome; the raw values are part of the API.
public enum WebhookAttemptOutcome: String, Sendable, Hashable, CaseIterable {
    /// 2xx: the message was accepted.
    case delivered
    /// Any other status.
    case refused
    /// 3xx; redirects are not followed.
    case redirect
    /// 410: the endpoint accepts no more messages.
    case gone
    /// No complete response before the deadline.
    case timeout
    /// The connection was closed without a response.
    case closed
    /// The connection could not be established.
    case unreachable
    /// The host name has no address.
    case nameNotFound = "name_not_found"
    /// TLS failed: the certificate is for another name or not trusted.
    case tls
    /// The address may not be connected to.
    case forbidden
}

/// The reason why an endpoint is disabled.
public enum WebhookDisabledReason: String, Sendable, Hashable {
    /// An operator disabled it.
    case byOperator = "operator"
    /// The endpoint answered 410.
    case gone
    /// All attempts failed for the maximum time.
    case failing
}
