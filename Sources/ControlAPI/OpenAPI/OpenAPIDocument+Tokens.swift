extension OpenAPIDocument {
    /// The addresses of revoked tokens.
    static let tokensPaths = """
          /v1/tokens/revoke:
            post:
              operationId: revokeToken
              summary: Refuses a token from now on.
              description: >-
                For operators. By jti, or by the token itself where it has none. Event streams and RTMP connections that
                were opened with it end within two seconds, with 20101. The list survives a restart.
              \(body("RevokeTokenBody"))
              \(answers("200", "It is revoked, or was already.", "RevokedTokenResource"))
          /v1/tokens/revoked:
            get:
              operationId: listRevokedTokens
              summary: Lists the revoked tokens that would still be good.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/PageSize'
                - $ref: '#/components/parameters/PageToken'
              \(answers("200", "A page of tokens, in the order in which they were revoked.", "RevokedTokenList"))
          /v1/tokens/revoked/{token}:
            delete:
              operationId: restoreToken
              summary: Accepts a revoked token again.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Token'
              \(answers("204", "It is accepted again until its time is over."))
        """

    /// The words of revoked tokens.
    static let tokensSchemas = """
            RevokeTokenBody:
              description: 'The id of a token, or the token itself.'
              type: object
              properties:
                jti:
                  type: string
                  minLength: 1
                  maxLength: 128
                  description: 'The id of the token; the audit log has it as token_id.'
                token:
                  type: string
                  description: 'The token, instead of its id.'
                expires_at:
                  type: string
                  format: date-time
                  description: 'With jti: when the time of the token is over; in ten years when left out.'
            RevokedTokenResource:
              description: 'A token that was revoked.'
              type: object
              required:
                - jti
                - identity
                - role
                - revoked_at
                - revoked_by
                - expires_at
              properties:
                jti:
                  type: string
                  description: 'The id of the token; sha256- and a digest for one that has none.'
                identity:
                  type: [string, "null"]
                  description: 'Who it was for; null where it was revoked by its id alone.'
                role:
                  type: [string, "null"]
                  description: 'What kind of bearer it was for; null where it was revoked by its id alone.'
                revoked_at:
                  type: string
                  format: date-time
                  description: 'When it was revoked.'
                revoked_by:
                  type: string
                  description: 'The name of the operator who did.'
                expires_at:
                  type: string
                  format: date-time
                  description: 'When its time is over, and it leaves the list.'
            RevokedTokenList:
              description: 'A page of revoked tokens.'
              type: object
              required:
                - tokens
                - meta
              properties:
                tokens:
                  type: array
                  items:
                    $ref: '#/components/schemas/RevokedTokenResource'
                meta:
                  $ref: '#/components/schemas/PageResource'
        """
}
