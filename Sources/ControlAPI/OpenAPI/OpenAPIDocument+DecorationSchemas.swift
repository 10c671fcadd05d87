extension OpenAPIDocument {
    /// The words of what is seen beside the tiles.
    static let decorationSchemas = """
            BackgroundResource:
              description: 'What lies behind the tiles: one of the two.'
              type: object
              properties:
                colour:
                  type: string
                  description: '#rrggbb.'
                image:
                  type: string
                  description: 'asset:NAME, or an http:// or https:// URL.'
            LogoResource:
              description: 'A picture over a corner of the canvas.'
              type: object
              required:
                - image
              properties:
                image:
                  type: string
                  description: 'asset:NAME, or an http:// or https:// URL.'
                position:
                  type: string
                  description: 'top_left, top_right, bottom_left or bottom_right; top_right when left out.'
                opacity:
                  type: number
                  description: '0, not seen, to 1, nothing seen through it; 1 when left out.'
                height:
                  type: number
                  description: 'A part of the canvas''s height, 0.02 to 0.5; 0.1 when left out.'
            LowerThirdResource:
              description: 'Two lines over the lower part of the canvas.'
              type: object
              required:
                - title
              properties:
                title:
                  type: string
                  description: 'The larger line, up to 500 characters.'
                subtitle:
                  type: string
                  description: 'The smaller line, up to 500 characters.'
            SlateResource:
              description: 'What the program is at a time when it shows nobody.'
              type: object
              properties:
                text:
                  type: string
                  description: 'Up to 500 characters; the usual words when left out.'
                image:
                  type: string
                  description: 'What fills the canvas, asset:NAME or a URL; the background when left out.'
                music:
                  type: string
                  description: 'What is played, asset:NAME or a URL; silence when left out.'
            SlatesBody:
              description: >-
                A slate for each occasion; what is left out stays as it is, null is the plain one again.
              type: object
              properties:
                starting_soon:
                  anyOf:
                    - $ref: '#/components/schemas/SlateResource'
                    - type: "null"
                  description: 'Before the show.'
                be_right_back:
                  anyOf:
                    - $ref: '#/components/schemas/SlateResource'
                    - type: "null"
                  description: 'Backstage in the middle of a show, and while no host is there.'
                ended:
                  anyOf:
                    - $ref: '#/components/schemas/SlateResource'
                    - type: "null"
                  description: 'After the show.'
            SlatesResource:
              description: 'A slate for each occasion; null is the plain one.'
              type: object
              required:
                - starting_soon
                - be_right_back
                - ended
              properties:
                starting_soon:
                  anyOf:
                    - $ref: '#/components/schemas/SlateResource'
                    - type: "null"
                  description: 'Before the show.'
                be_right_back:
                  anyOf:
                    - $ref: '#/components/schemas/SlateResource'
                    - type: "null"
                  description: 'Backstage in the middle of a show, and while no host is there.'
                ended:
                  anyOf:
                    - $ref: '#/components/schemas/SlateResource'
                    - type: "null"
                  description: 'After the show.'
            TickerResource:
              description: 'Text that runs along the lower edge of the canvas.'
              type: object
              required:
                - text
              properties:
                text:
                  type: string
                  description: 'One line, up to 2000 characters and 16000 bytes of UTF-8.'
                speed:
                  type: number
                  description: 'Canvas widths per second, 0.01 to 1; 0.1 when left out.'
        """
}
