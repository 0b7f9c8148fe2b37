/**
 * Lists unusual answers to tools/call. Parsing and printing would change most of these answers. The tests replace `ID` by the
 * id of the request.
 */
export const ODDITIES: readonly string[] = [
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"1.0"}],"n":1.0}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"n":9007199254740993}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"n":1e400,"m":-0.0,"k":1E+2}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\\u0041\\/\\ud83d\\ude00\\ud800"}]}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"a":1,"a":2,"\\u0061":3}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[1],"content":[{"type":"text","text":"second"}]}}',
  '{ "result" : { "z" : 1 , "content" : [ ] , "a" : 2 } , "id" : ID , "jsonrpc" : "2.0" }\t',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"hologram","data":[1.0],"text":5}],"__proto__":{"x":1}}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x","annotations":{"futureHint":1.0}}],"_meta":{"a/b":1.50}},"extra":null}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"é\u2028\u007f😀"}],"structuredContent":{"n":1.0}}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"isError":true,"10":1,"9":2}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"result":{"content":[{"type":"text","text":"last"}]}}',
  '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000.0,"message":"\\u0041","data":{"n":1.0}}}',
  '{"jsonrpc":"2.0","id":ID,"result":null}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":"no list","structuredContent":1.0}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"a":{"n":1.0}}}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"task":{"taskId":"t","ttl":1.0}}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[]}} trailing',
];
