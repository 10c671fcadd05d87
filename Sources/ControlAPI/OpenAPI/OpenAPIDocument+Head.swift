extension OpenAPIDocument {
    /// What it is, and who may ask.
    static let head = """
        openapi: 3.1.0
        info:
          title: Footlight control API
          version: '1'
          description: >-
            Rooms, participants, tracks, layout, outputs, viewership and events of a live-stream gateway.
            Unknown fields are ignored. Every refusal has one shape; match on its code.
        servers:
          - url: /
        security:
          - bearer: []
        paths:
        """
}
