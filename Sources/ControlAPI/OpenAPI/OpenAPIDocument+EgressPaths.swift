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
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/StartLivestreamBody'
              responses:
                '202':
                  description: The outputs connect.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LivestreamResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/livestream/stop:
            post:
              operationId: stopLivestream
              summary: Takes down every output.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '202':
                  description: The outputs close.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LivestreamResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/livestream/outputs:
            post:
              operationId: addOutput
              summary: Adds an output to a running livestream.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/OutputBody'
              responses:
                '202':
                  description: The output connects.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LivestreamResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/livestream/outputs/{output}:
            delete:
              operationId: removeOutput
              summary: Takes one output down; the last one stays.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Output'
              responses:
                '200':
                  description: The outputs that are left.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LivestreamResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/livestream/outputs/{output}/retry:
            post:
              operationId: retryOutput
              summary: Has an output that is not connected try again now; one that is connected stays as it is.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Output'
              responses:
                '202':
                  description: The outputs.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/LivestreamResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/hls/start:
            post:
              operationId: startHLS
              summary: Begins to offer the program as a playlist.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/StartHLSBody'
              responses:
                '202':
                  description: The playlist is on its way.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/HLSResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/hls/stop:
            post:
              operationId: stopHLS
              summary: Ends the playlist.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '202':
                  description: The playlist ends.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/HLSResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/egress:
            get:
              operationId: readEgress
              summary: Tells how the program leaves.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: Outputs and playlist.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/EgressResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership:
            get:
              operationId: readViewership
              summary: Counts who watches a room.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: The figures.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ViewershipResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/viewership:
            get:
              operationId: readAllViewership
              summary: Counts who watches all live rooms.
              description: For operators and monitors.
              responses:
                '200':
                  description: The figures.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ViewershipTotalsResource'
                default:
                  $ref: '#/components/responses/Refusal'
        """
}
