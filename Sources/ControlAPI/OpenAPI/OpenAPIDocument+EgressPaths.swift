extension OpenAPIDocument {
    /// The addresses of egress.
    static let egressPaths = """
          /v1/rooms/{room}/livestream/start:
            post:
              operationId: startLivestream
              summary: Begins to push the program.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("StartLivestreamBody"))
              \(answers("202", "The outputs connect.", "LivestreamResource"))
          /v1/rooms/{room}/livestream/stop:
            post:
              operationId: stopLivestream
              summary: Takes down every output.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("202", "The outputs close.", "LivestreamResource"))
          /v1/rooms/{room}/livestream/outputs:
            post:
              operationId: addOutput
              summary: Adds an output to a running livestream.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("OutputBody"))
              \(answers("202", "The output connects.", "LivestreamResource"))
          /v1/rooms/{room}/livestream/outputs/{output}:
            delete:
              operationId: removeOutput
              summary: Takes one output down; the last one stays.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Output'
              \(answers("200", "The outputs that are left.", "LivestreamResource"))
          /v1/rooms/{room}/livestream/outputs/{output}/retry:
            post:
              operationId: retryOutput
              summary: Has an output that is not connected try again now; one that is connected stays as it is.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Output'
              \(answers("202", "The outputs.", "LivestreamResource"))
          /v1/rooms/{room}/hls/start:
            post:
              operationId: startHLS
              summary: Begins to offer the program as a playlist.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("StartHLSBody"))
              \(answers("202", "The playlist is on its way.", "HLSResource"))
          /v1/rooms/{room}/hls/stop:
            post:
              operationId: stopHLS
              summary: Ends the playlist.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("202", "The playlist ends.", "HLSResource"))
          /v1/rooms/{room}/egress:
            get:
              operationId: readEgress
              summary: Tells how the program leaves.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "Outputs and playlist.", "EgressResource"))
          /v1/rooms/{room}/viewership:
            get:
              operationId: readViewership
              summary: Counts who watches a room.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "The figures.", "ViewershipResource"))
          /v1/viewership:
            get:
              operationId: readAllViewership
              summary: Counts who watches all live rooms.
              description: For operators and monitors.
              \(answers("200", "The figures.", "ViewershipTotalsResource"))
        """
}
