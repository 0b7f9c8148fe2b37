import { expect, it } from 'vitest';
import { editedRequest, frameOf, param, type Request } from './frame.ts';
import { addMember, edited, objectAt, type Edit } from './json.ts';

const BEFORE = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__ä","_meta":{"progressToken":7}}}\n',
  '{"params":{"name":"a__b"},"method":"tools/call","id":"é","jsonrpc":"2.0"}\n',
  ' { "id" : 12 , "params" : { "x" : "y" , "name" : "a__c" } , "method" : "tools/call" , "jsonrpc" : "2.0" } \n',
  '{"jsonrpc":"2.0","id":3,"method":"tools/list"}\n',
];

it.each(BEFORE)('an edited request equals the request that its bytes give: %s', (text) => {
  const request = frameOf(Buffer.from(text)) as Request;
  const name = param(request, 'name');
  const object = request.params && objectAt(request.bytes, request.params.start);
  const edits: Edit[] = [
    { at: request.idAt, put: '"a longer id"' },
    ...(name ? [{ at: name, put: '"ü"' }] : []),
    ...(object ? [addMember(object, '_more', '{"ö":1}')] : []),
  ];
  expect(frameOf(edited(request.bytes, edits))).toMatchObject(editedRequest(request, edits));
  expect(editedRequest(request, [])).toBe(request);
});

it('params can be added to a request', () => {
  const request = frameOf(Buffer.from('{"jsonrpc":"2.0","id":3,"method":"tools/list"}\n')) as Request;
  const whole = objectAt(request.bytes, 0)!;
  const after = editedRequest(request, [addMember(whole, 'params', '{"cursor":"x"}')]);
  expect(after.params).toBeDefined();
  expect(param(after, 'cursor')).toBeDefined();
});
