import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  type AnswerCall,
  answerJson,
  answerWith,
  jsonIn,
} from '../../../test/helpers/class-server.ts';
import {
  inTurn,
  RemoteClassFixture,
  thrownBy,
  unchanged,
} from '../../../test/helpers/remote-class-fixture.ts';
import { aContext, bundleFiles } from '../../../testing/index.ts';
import { defaultLimits, tarParts } from '../../content/index.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import type { InTurn } from '../../platform/runtime/index.ts';

let fixture: RemoteClassFixture;

beforeEach(async () => {
  fixture = await RemoteClassFixture.start();
});

afterEach(() => fixture.stop());

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

describe('a Bundle', () => {
  test('goes as one tar: the object, the context and the content', async () => {
    fixture.answering('/v1/bundle', unchanged);
    const managedFields = [{ manager: 'kubectl', operation: 'Update', time: 'now' }];
    const metadata = { ...fixture.bundle.metadata, managedFields } as Bundle['metadata'];
    expect(
      await fixture.provisioner.bundle!(fixture.files, { ...fixture.bundle, metadata }, aContext()),
    ).toBe(fixture.files);
    const [asked, posted] = fixture.server.received;
    expect(asked?.call).toBe('GET /v1/class');
    expect(posted?.call).toBe('POST /v1/bundle');
    expect(posted?.headers).toMatchObject({
      'content-type': 'application/x-tar',
      'content-length': expect.stringMatching(/^[0-9]+$/),
    });
    expect(Object.keys(posted?.files ?? {})).toEqual([
      'content/a.txt',
      'content/b/c.txt',
      'context.json',
      'object.json',
    ]);
    expect(posted?.files['content/b/c.txt']).toBe('two');
    expect(jsonIn(posted!, 'object.json')).toEqual(fixture.bundle);
    expect(jsonIn(posted!, 'context.json')).toEqual({ limits: defaultLimits });
  });

  test('gets the content of a tar in the answer', async () => {
    const body = aTar({ path: 'new.txt', content: Buffer.from('three') });
    fixture.answering('/v1/bundle', (response) =>
      answerWith(response, { type: 'application/x-tar', body }),
    );
    const stored = await fixture.handleBundle();
    expect([...stored.files].map(([path, text]) => [path, Buffer.from(text).toString()])).toEqual([
      ['new.txt', 'three'],
    ]);
  });

  test('tells the bytes of the content in the answer as they arrive', async () => {
    const body = aTar({ path: 'new.txt', content: Buffer.alloc(600 * 1024) });
    fixture.answering('/v1/bundle', (response) =>
      answerWith(response, { type: 'application/x-tar', body }),
    );
    const received = vi.fn();
    const turn = { creator: 'core', received };
    const context: InTurn<ReturnType<typeof aContext>> = { ...aContext(), turn };
    await fixture.handleBundle(context);
    expect(received.mock.calls).toEqual([[256 * 1024], [512 * 1024], [600 * 1024]]);
  });

  test('whose answer leaves the tree, or passes a limit, is tried again later', async () => {
    const outside = aTar({ path: '../x', content: Buffer.from('x') });
    const large = aTar({ path: 'x', content: Buffer.alloc(2_000) });
    for (const [body, text] of [
      [outside, 'archive has an entry that leaves the bundle: "../x"'],
      [large, 'archive unpacks to more than the limit of 1000 bytes (--max-content-bytes)'],
    ] as const) {
      fixture.answering('/v1/bundle', (response) =>
        answerWith(response, { type: 'application/x-tar', body }),
      );
      const limits = { ...defaultLimits, maxBytes: 1_000 };
      const error = await thrownBy(fixture.handleBundle(aContext({ limits })));
      expect(error.message).toBe(`class "acme" at ${fixture.server.url}: ${text}`);
      expect(error).not.toBeInstanceOf(TerminalError);
    }
  });

  test('with many small files keeps the length that was said', async () => {
    const many = bundleFiles(
      Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`${'d'.repeat(120)}/${index}`, `${index}`]),
      ),
    );
    fixture.answering('/v1/bundle', unchanged);
    expect(await fixture.provisioner.bundle!(many, fixture.bundle, aContext())).toBe(many);
    expect(fixture.server.received[1]?.files[`content/${'d'.repeat(120)}/4999`]).toBe('4999');
  });
});

test('connections are kept for what comes next', async () => {
  fixture.answering('/v1/bundle', unchanged);
  fixture.answering('/v1/deployment', (response) => answerJson(response, []));
  for (let round = 0; round < 5; round += 1) {
    await fixture.handleBundle();
    await fixture.handleDeployment();
  }
  expect(fixture.server.received).toHaveLength(11);
  expect(fixture.server.connections).toBeLessThanOrEqual(4);
});

describe('a BundleDeployment', () => {
  test.each([
    ['an array', { type: 'application/json', body: JSON.stringify([configMap, configMap]) }, 2],
    [
      'a List',
      { type: 'application/json', body: JSON.stringify({ kind: 'List', items: [configMap] }) },
      1,
    ],
    ['one object', { type: 'application/json; charset=utf-8', body: JSON.stringify(configMap) }, 1],
    ['nothing', { type: 'application/json', body: '[]' }, 0],
    [
      'documents',
      { type: 'application/yaml', body: `---\n${JSON.stringify(configMap)}\n---\n# none\n` },
      1,
    ],
  ])('becomes the objects of %s', async (_, answer, count) => {
    fixture.answering('/v1/deployment', (response) => answerWith(response, answer));
    expect(await fixture.handleDeployment()).toEqual(
      Array.from({ length: count }, () => configMap),
    );
  });

  test.each([
    ['application/json', ''],
    ['application/json', ' \n'],
    ['application/json', 'null'],
    ['application/json', '{"apiVersion":"v1","kind":"List","items":null}'],
    ['application/yaml', ''],
    ['application/yaml', '---\n# nothing was rendered\n'],
    ['application/yaml', 'null'],
    ['application/yaml', 'kind: ConfigMapList\nitems:\n'],
  ])('is not emptied by an answer that says nothing: %s %j', async (type, body) => {
    fixture.answering('/v1/deployment', (response) => answerWith(response, { type, body }));
    await expect(fixture.handleDeployment()).rejects.toThrow(
      `class "acme" at ${fixture.server.url}: the answer has neither objects nor an empty list: for no objects answer with the JSON [] or a List whose items are []`,
    );
  });

  test.each([
    ['application/json', ' [ ] '],
    ['application/json', '{"apiVersion":"v1","kind":"List","items":[]}'],
    ['application/yaml', '# none\n---\napiVersion: v1\nkind: List\nitems: []\n'],
  ])('is emptied by an empty list: %s %j', async (type, body) => {
    fixture.answering('/v1/deployment', (response) => answerWith(response, { type, body }));
    expect(await fixture.handleDeployment()).toEqual([]);
  });

  test('keeps every digit of its numbers', async () => {
    const body = '[{"apiVersion":"v1","kind":"A","metadata":{},"n":12345678901234567890}]';
    fixture.answering('/v1/deployment', (response) =>
      answerWith(response, { type: 'application/json', body }),
    );
    expect(await fixture.handleDeployment()).toMatchObject([{ n: 12345678901234567890n }]);
  });

  test('is given inputs, and of the facts those that the class uses', async () => {
    fixture.describing({ uses: ['seed'] });
    fixture.answering('/v1/deployment', (response) => answerJson(response, []));
    const inputs = [Buffer.from([0, 255]), undefined];
    await fixture.handleDeployment(aContext({ inputs }));
    expect(fixture.provisioner.uses).toEqual(['seed']);
    const { seed } = aContext();
    expect(jsonIn(fixture.server.received[1]!, 'context.json')).toEqual({
      limits: defaultLimits,
      inputs: ['AP8=', null],
      seed: Buffer.from(seed!).toString('base64'),
    });
  });

  test('is tried again where the class has just begun to use a fact', async () => {
    fixture.describing({ uses: ['cluster'] });
    const { cluster: _, ...context } = aContext();
    await expect(fixture.handleDeployment(context)).rejects.toThrow(
      'now uses "cluster": core retries with it',
    );
  });

  test.each([
    ['text/html', '<html>', 'the answer is "text/html", but must be application/json or'],
    [
      'application/json',
      '[{}]',
      `unable to decode "answer.json": Object 'Kind' is missing in '{}'`,
    ],
    ['application/json', '[{"kind"', 'error parsing answer.json: '],
    ['application/yaml', 'a: b\nc: [', 'error parsing answer.yaml: '],
    ['application/yaml', '---\nkind: A\n'.repeat(4), 'more than 3 objects (--max-content-entries)'],
    ['application/yaml', 'a'.repeat(2_000), 'the answer is larger than the limit of 1000 bytes'],
  ])('whose answer is %s %j says so, and is tried again later', async (type, body, text) => {
    fixture.answering('/v1/deployment', (response) => answerWith(response, { type, body }));
    const limits = { ...defaultLimits, maxBytes: 1_000, maxEntries: 3 };
    const error = await thrownBy(fixture.handleDeployment(aContext({ limits })));
    expect(error.message).toContain(`class "acme" at ${fixture.server.url}: `);
    expect(error.message).toContain(text);
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error).not.toBeInstanceOf(WaitingError);
  });

  test('is not made of an answer that may have been cut', async () => {
    fixture.answering('/v1/deployment', (response) => {
      response.socket?.end('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n[]');
    });
    await expect(fixture.handleDeployment()).rejects.toThrow('the answer has no Content-Length');
  });

  test('whose answer breaks off is asked for once more', async () => {
    const broken: AnswerCall = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 50 });
      response.write('[', () => response.destroy());
    };
    fixture.answering(
      '/v1/deployment',
      inTurn(broken, (response) => answerJson(response, [configMap])),
    );
    expect(await fixture.handleDeployment()).toEqual([configMap]);
    expect(fixture.sleeps).toEqual([200]);
  });
});

describe('inputs', () => {
  const reference = { kind: 'Secret', name: 'db', key: 'password' };

  test('are not asked for where the class has none', async () => {
    expect(await fixture.provisioner.inputs!(fixture.deployment, aContext())).toEqual([]);
    expect(fixture.server.received.map(({ call }) => call)).toEqual(['GET /v1/class']);
  });

  test('are asked for by the object alone', async () => {
    fixture.describing({ handlers: ['inputs', 'deployment'] });
    fixture.answering('/v1/inputs', (response) => answerJson(response, [reference]));
    expect(await fixture.provisioner.inputs!(fixture.deployment, aContext())).toEqual([reference]);
    expect(Object.keys(fixture.server.received[1]?.files ?? {})).toEqual([
      'context.json',
      'object.json',
    ]);
    expect(jsonIn(fixture.server.received[1]!, 'object.json')).toEqual(fixture.deployment);
  });

  test('must be an array', async () => {
    fixture.describing({ handlers: ['inputs', 'deployment'] });
    fixture.answering('/v1/inputs', (response) => answerJson(response, reference));
    await expect(fixture.provisioner.inputs!(fixture.deployment, aContext())).rejects.toThrow(
      'is not an array',
    );
  });
});

function aTar(...entries: readonly { readonly path: string; readonly content: Buffer }[]): Buffer {
  return Buffer.concat([...tarParts(entries)]);
}
