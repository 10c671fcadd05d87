import FootlightTesting
import Testing

@Suite("JSON to look into") struct JSONValueTests {
    @Test("Members and elements are reached, and what is not there is null")
    func reads() throws {
        let json = try JSONValue(parsing: #"{"a":[1,2.5,"x",true,null],"b":{"c":3}}"#)
        #expect(json["a"][0].int == 1 && json["a"][1].double == 2.5 && json["a"][1].int == nil)
        #expect(json["a"][2].string == "x" && json["a"][3].bool == true && json["a"][4] == .null)
        #expect(json["b"]["c"].int == 3 && json["b"]["d"]["e"] == .null && json["a"].elements.count == 5)
    }

    @Test("A value written in code is the text it says")
    func writes() {
        let value: JSONValue = ["room": "a/b", "list": [1, 2.5, true], "more": ["x": "y"]]
        #expect(value.text == #"{"list":[1,2.5,true],"more":{"x":"y"},"room":"a/b"}"#)
    }
}
