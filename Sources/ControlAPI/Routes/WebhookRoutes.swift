import FootlightModel
import HTTPTypes
import Hummingbird
import Shows
import Stage
import Webhooks

/// Routes for webhook endpoints; for operators only.
struct WebhookRoutes: FeatureRoutes {
    /// Nil if the gateway has no webhooks.
    let webhooks: WebhookDispatcher?
    let shows: ShowDirectory

    func add(to api: APIRoutes) {
        api.command(.post, "webhooks") { call in
            let webhooks = try webhooks(for: call)
            let body = try await call.decode(CreateWebhookBody.self)
            var draft = try WebhookDraft(body)
            draft.show = try body.show.map { (show) throws(StageError) in try shows.show(show).name }
            let endpoint = try await refusing { [draft] () async throws(WebhookFault) in
                try await webhooks.create(draft)
            }
            let resource = WebhookResource(endpoint, pending: 0, showsSecret: true)
            return try APIResponse.json(resource, status: .created)
        }

        api.read("webhooks") { call in
            let webhooks = try webhooks(for: call)
            return try APIResponse.json(WebhookList(webhooks: webhooks.endpoints().map { resource(of: $0, webhooks) }))
        }

        api.read("shows/:show/webhooks") { call in
            let webhooks = try webhooks(for: call)
            let show = try shows.show(call.path("show")).name
            let endpoints = webhooks.endpoints().filter { $0.filter.show == show }
            return try APIResponse.json(WebhookList(webhooks: endpoints.map { resource(of: $0, webhooks) }))
        }

        api.read("webhooks/:webhook") { call in
            let webhooks = try webhooks(for: call)
            return try APIResponse.json(resource(of: try endpoint(call, webhooks), webhooks))
        }

        api.command(.patch, "webhooks/:webhook") { call in
            let webhooks = try webhooks(for: call)
            let draft = try WebhookDraft(try await call.decode(UpdateWebhookBody.self))
            let id = try endpoint(call, webhooks).id
            let endpoint = try await refusing { () async throws(WebhookFault) in try await webhooks.change(id, draft) }
            return try APIResponse.json(resource(of: endpoint, webhooks))
        }

        api.command(.delete, "webhooks/:webhook") { call in
            let webhooks = try webhooks(for: call)
            let id = try endpoint(call, webhooks).id
            try await refusing { () async throws(WebhookFault) in try await webhooks.remove(id) }
            return Response(status: .noContent)
        }

        api.command(.post, "webhooks/:webhook/rotate") { call in
            let webhooks = try webhooks(for: call)
            let id = try endpoint(call, webhooks).id
            let endpoint = try await refusing { () async throws(WebhookFault) in try await webhooks.rotate(id) }
            return try APIResponse.json(
                WebhookResource(endpoint, pending: webhooks.pending(of: id), showsSecret: true)
            )
        }

        api.command(.post, "webhooks/:webhook/test") { call in
            let webhooks = try webhooks(for: call)
            let endpoint = try endpoint(call, webhooks)
            let data = try WireJSON.encode(resource(of: endpoint, webhooks))
            let attempt = try await refusing { () async throws(WebhookFault) in
                try await webhooks.test(endpoint.id, type: .webhook(.test), data: data)
            }
            return try APIResponse.json(WebhookAttemptResource(attempt))
        }

        api.read("webhooks/:webhook/deliveries") { call in
            let webhooks = try webhooks(for: call)
            let id = try endpoint(call, webhooks).id
            let size = try PageRequest.size(of: call.request)
            let before = try place(call)
            let records = try await refusing { () async throws(WebhookFault) in
                try await webhooks.deliveries(of: id, before: before, limit: size)
            }
            return try APIResponse.json(
                WebhookDeliveryList(
                    deliveries: records.map { WebhookDeliveryResource($0) },
                    meta: PageResource(
                        pageSize: size,
                        nextPageToken: records.count < size ? nil : records.last.map { String($0.sequence) }
                    )
                )
            )
        }
    }

    /// - Throws: 20106 unless the bearer is an operator; 53006 if the gateway has no webhooks.
    private func webhooks(for call: APICall) throws(StageError) -> WebhookDispatcher {
        try call.claims.requireOperator()
        guard let webhooks else { throw .serverBusy(retryAfter: nil) }
        return webhooks
    }

    private func endpoint(_ call: APICall, _ webhooks: WebhookDispatcher) throws(StageError) -> WebhookEndpoint {
        do {
            return try webhooks.endpoint(call.path("webhook"))
        } catch {
            throw StageError(error)
        }
    }

    private func resource(of endpoint: WebhookEndpoint, _ webhooks: WebhookDispatcher) -> WebhookResource {
        WebhookResource(endpoint, pending: webhooks.pending(of: endpoint.id), showsSecret: false)
    }

    /// Parses the page token; nil for the first page.
    private func place(_ call: APICall) throws(StageError) -> Int64? {
        guard let text = call.query("page_token"), !text.isEmpty else { return nil }
        guard let place = Int64(text), place > 0 else {
            throw .invalidParameter("page_token", "must be the next_page_token of an earlier answer")
        }
        return place
    }

    private func refusing<Outcome>(
        _ body: () async throws(WebhookFault) -> Outcome
    ) async throws(StageError) -> Outcome {
        do {
            return try await body()
        } catch {
            throw StageError(error)
        }
    }
}

// The errors of webhooks; the codes are the HTTP status, because no source system defines any.

extension StageError {
    /// 404: the webhook does not exist.
    static let webhookNotFound = StageError(
        code: 404,
        name: "WebhookNotFoundError",
        message: "There is no such webhook",
        cause: "It was deleted, or it never was",
        solution: "List the webhooks",
        status: 404
    )

    /// 409: the gateway has the maximum number of webhooks.
    static func tooManyWebhooks(_ limit: Int) -> StageError {
        StageError(
            code: 409,
            name: "WebhookLimitReachedError",
            message: "There are \(limit) webhooks already",
            cause: "The gateway is at its limit of webhooks",
            solution: "Delete one that is not needed any more, or raise webhooks.maximum",
            status: 409
        )
    }

    init(_ fault: WebhookFault) {
        self =
            switch fault {
            case .notFound: .webhookNotFound
            case .tooMany(let limit): .tooManyWebhooks(limit)
            case .invalid(let field, let rule): .invalidParameter(field, rule)
            case .unavailable: .serverBusy(retryAfter: 5)
            }
    }
}
