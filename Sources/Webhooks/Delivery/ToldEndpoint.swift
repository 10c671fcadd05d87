/// An endpoint while the gateway runs.
struct ToldEndpoint: Sendable {
    var endpoint: WebhookEndpoint
    var course: EndpointCourse
    /// Deliveries that wait.
    var pending: Int
    /// Wakes whoever delivers.
    let bell = Bell()

    init(_ endpoint: WebhookEndpoint, schedule: RetrySchedule, pending: Int = 0) {
        self.endpoint = endpoint
        self.pending = pending
        course = EndpointCourse(schedule: schedule, health: endpoint.health, isEnabled: endpoint.disabled == nil)
    }

    /// The endpoint with its health as it is now.
    var current: WebhookEndpoint {
        var endpoint = endpoint
        endpoint.health = course.health
        return endpoint
    }
}
