import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  type ConfigureHandler,
  type DefinedProvisioner,
  defineProvisioner,
  type KubernetesObject,
  type Provisioner,
  TerminalError,
} from '../../core/sdk.ts';
import { describeProvisioner } from './describe-provisioner.ts';
import type { ProvisionerFixtures } from './fixtures.ts';

const files = { 'colour.txt': 'blue' };
const fixtures: ProvisionerFixtures = {
  bundles: [{ name: 'x', files, stored: files }],
  deployments: [{ name: 'x', files, config: { size: 'xl' } }],
  refused: [{ name: 'nothing', files: {}, message: 'no colour' }],
};

/** What a class makes of content that is as it should be. */
function aConfigMap(data: Readonly<Record<string, unknown>>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'colours' }, data };
}

/** A class that passes, but for what is replaced. */
function aClass(replaced: Partial<Provisioner> = {}): DefinedProvisioner {
  return defineProvisioner({
    className: 'acme',
    bundle: async (content) => {
      if (content.files.get('colour.txt') === undefined) throw new TerminalError('no colour');
      return content;
    },
    deployment: async ({ files }) => [
      aConfigMap({ colour: Buffer.from(files.get('colour.txt') ?? []).toString('base64') }),
    ],
    ...replaced,
  });
}

/** Writes the size of the config into the content. */
const configure: ConfigureHandler = async ({ files, directories }, { spec }) => {
  const { size } = (spec.config ?? {}) as { readonly size?: unknown };
  if (typeof size === 'number') throw new TerminalError('size is a number');
  const text = Buffer.from(JSON.stringify(size ?? 'none'));
  return { files: new Map([...files, ['size.txt', text]]), directories };
};

/** What the suite says of a class: of each test that fails its title, and the text. */
async function complaints(
  provisioner: Provisioner,
  changes: Partial<ProvisionerFixtures> = {},
  options: Options = {},
): Promise<Readonly<Record<string, string>>> {
  return await complaintsWith(provisioner, { ...fixtures, ...changes }, options);
}

interface Options {
  readonly remote?: boolean;
  readonly module?: URL;
  /** The title of one test. */
  readonly only?: string;
}

async function complaintsWith(
  provisioner: Provisioner,
  given: ProvisionerFixtures,
  { only, ...options }: Options = {},
): Promise<Readonly<Record<string, string>>> {
  const tests: [string, () => Promise<void>][] = [];
  const test = (title: string, run: () => Promise<void>): unknown => tests.push([title, run]);
  describeProvisioner(provisioner, given, { test, ...options });
  const found: Record<string, string> = {};
  for (const [title, run] of tests) {
    if (only !== undefined && title !== only) continue;
    await run().catch((error: Error) => {
      found[title] = error.message;
    });
  }
  return found;
}

async function complaintsOfDeployment(
  deployment: NonNullable<Provisioner['deployment']>,
  options?: { readonly only: string },
): Promise<Readonly<Record<string, string>>> {
  return await complaints(aClass({ deployment }), {}, options);
}

const title = 'acme: deployment "x"';

describe('the suite for classes', () => {
  it('has nothing to say of a class that keeps the contract', async () => {
    expect(await complaints(aClass())).toEqual({});
  });

  it('calls handlers as core does, with the object that they belong to', async () => {
    const { deployment, ...others } = aClass();
    const belonging: Provisioner & { readonly made: typeof deployment } = {
      ...others,
      made: deployment,
      async deployment(...given) {
        return (await this.made?.(...given)) ?? [];
      },
    };
    expect(await complaints(belonging)).toEqual({});
  });

  it.each([
    ['a name that is none', { ...aClass(), className: 'Acme' }, '"Acme" is not a class name'],
    [
      'a name that is too long',
      { ...aClass(), className: 'a'.repeat(64) },
      'has 64 characters, and may have 63',
    ],
    ['no contract version', { ...aClass(), contractVersion: undefined }, 'defineProvisioner'],
    ['no handler', defineProvisioner({ className: 'acme' }), 'neither bundle nor deployment'],
    [
      'inputs for nothing',
      aClass({ deployment: undefined, inputs: async () => [] } as unknown as Provisioner),
      'its inputs are for deployment, which it does not have',
    ],
    [
      'uses for nothing',
      aClass({ deployment: undefined, uses: ['seed'] } as unknown as Provisioner),
      'its uses are for configure and deployment, which it does not have',
    ],
    [
      'configure for what others stored',
      aClass({ bundle: undefined, configure } as unknown as Provisioner),
      'its configure is for content that its bundle gave',
    ],
    ['an unknown use', aClass({ uses: ['moon' as 'seed'] }), 'uses has "moon"'],
  ])('names %s', async (_, provisioner, text) => {
    const found = await complaints(provisioner, { deployments: [], bundles: [] });
    expect(Object.values(found).join('\n')).toContain(text);
  });

  it('asks for fixtures of each handler', async () => {
    const none = { bundles: [], deployments: [], refused: [] };
    expect(await complaints(aClass(), none)).toEqual({
      'acme: is a class, with something to try it with':
        'the fixtures have no bundle; the fixtures have no deployment',
    });
  });

  it('asks for the handler of each fixture, which would try nothing without it', async () => {
    const { deployment, ...others } = aClass();
    const misspelt = { ...others, deploymnt: deployment };
    const configured = [{ name: 'x', files }];
    const title = 'acme: is a class, with something to try it with';
    expect((await complaints(misspelt, { configured }))[title]).toBe(
      'it has a function "deploymnt", which core never calls: did you mean deployment?; the fixtures have configured content, and it has no configure; the fixtures have a deployment, and it has no deployment',
    );
  });

  it.each([[undefined], [[]]])(
    'needs nothing refused (%j) of a class that refuses nothing',
    async (refused) => {
      const { refused: _refused, ...accepted } = fixtures;
      const given = refused === undefined ? accepted : { ...accepted, refused };
      const accepting = aClass({ bundle: async (content) => content });
      expect(await complaintsWith(accepting, given)).toEqual({});
      expect(await complaintsWith(aClass(), given)).toEqual({
        'acme: bundle "x" is handled or refused when it is spoilt': expect.stringMatching(
          /^without any file, it was refused \("no colour"\), but the fixtures have no refused content: add a case to refused$/,
        ),
      });
    },
  );
});

describe('a handler that never settles', () => {
  const never = async (): Promise<never> => await new Promise(() => undefined);

  it.each<[string, Partial<Provisioner>]>([
    ['bundle', { bundle: never }],
    ['configure', { configure: never }],
    ['inputs', { inputs: never }],
    ['deployment', { deployment: never }],
  ])('is named: %s', async (name, handler) => {
    const found = await complaints(aClass(handler), {
      configured: [{ name: 'x', files }],
      timeout: 20,
    });
    const overdue = `${name} has not settled within 0.02 s: see what it awaits, or give it longer (timeout in the fixtures)`;
    expect(Object.values(found)).toContain(overdue);
    expect(new Set(Object.values(found)).size).toBeLessThanOrEqual(2);
  });

  it('is named in a copy that was just loaded', { tags: ['process'] }, async () => {
    const module = new URL(
      'data:text/javascript,export default { deployment: async () => { for (;;); } }',
    );
    const only = `${title} is handled the same whenever and wherever`;
    expect(await complaints(aClass(), { timeout: 3_000 }, { only, module })).toEqual({
      [only]: expect.stringMatching(/^deployment has not settled within 3 s/),
    });
  });
});

describe('a result', () => {
  it('is compared with the fixture', async () => {
    const found = await complaints(aClass(), {
      bundles: [{ name: 'x', files, stored: { 'colour.txt': 'red' } }],
      deployments: [{ name: 'x', files, objects: [aConfigMap({ colour: 'red' })] }],
    });
    expect(found['acme: bundle "x" is handled']).toMatch(
      /^its stored content differs from the fixture\n[^]*'red'/,
    );
    expect(found[`${title} is handled`]).toMatch(/^its objects are not those of the fixture\n/);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  it.each([
    ['no list', {}, 'it returned [object Object], and is to return an array'],
    ['an object without a name', [{ ...aConfigMap({}), metadata: {} }], 'object 0: metadata.name'],
    ['no object', [null], 'object 0 is null, and is to be an object'],
    [
      'a label that is no text',
      [{ ...aConfigMap({}), metadata: { name: 'a', labels: { tier: 1 } } }],
      'object 0 cannot be applied: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    ['a cycle', [aConfigMap(cyclic)], 'object 0.data.self is an object that holds itself'],
    ['a date', [aConfigMap({ at: new Date(0) })], 'object 0.data.at is a Date'],
    ['a function', [aConfigMap({ list: [() => 1] })], 'object 0.data.list[0] is a function'],
    ['infinity', [aConfigMap({ n: 1 / 0 })], 'object 0.data.n is Infinity'],
  ])('that holds %s is refused', async (_, result, text) => {
    const found = await complaintsOfDeployment(async () => result as KubernetesObject[]);
    expect(found[`${title} is handled`]).toContain(text);
  });

  const wanted = { kind: 'Secret', name: 'login', key: 'password' };
  it.each([
    ['too many', Array.from({ length: 101 }, () => wanted), '101 inputs, and may ask for 100'],
    [
      'one with a long name',
      [{ ...wanted, name: 'a'.repeat(254), optional: true }],
      'input 0: name has 254',
    ],
    [
      'one with a long key',
      [{ ...wanted, key: 'a'.repeat(254), optional: true }],
      'input 0: key has 254',
    ],
    [
      'one that is optional by a text',
      [{ ...wanted, optional: 'yes' }],
      'input 0: optional is "yes"',
    ],
  ])('of inputs with %s is refused', async (_, references, text) => {
    const values = { inputs: { 'Secret/login/password': 'x' } };
    const deployments = [{ name: 'x', files, ...values }];
    const asking = aClass({ inputs: async () => references as never });
    const found = await complaints(asking, { deployments });
    expect(Object.values(found).join('\n')).toContain(text);
  });

  it('of content that is missing is refused wherever it is needed', async () => {
    const bundle: Provisioner['bundle'] = async (content) =>
      content.files.has('colour.txt') ? content : (undefined as never);
    const deployments = [{ name: 'bare', files: {} }];
    const found = await complaints(aClass({ bundle }), { deployments, refused: [] });
    expect(found['acme: deployment "bare" is handled']).toContain('its bundle returned no content');
  });

  it.each([
    [
      'a path that leaves',
      { files: new Map([['../a', new Uint8Array()]]), directories: new Set() },
    ],
    ['text for bytes', { files: new Map([['a', 'text']]), directories: new Set() }],
    ['no parents', { files: new Map([['a/b', new Uint8Array()]]), directories: new Set() }],
    ['no map', { files: {}, directories: new Set() }],
  ])('of content with %s is refused', async (_, result) => {
    const bundle = async () =>
      result as unknown as Awaited<ReturnType<NonNullable<Provisioner['bundle']>>>;
    const found = await complaints(aClass({ bundle }));
    expect(found['acme: bundle "x" is handled']).toMatch(/BundleFilesBuilder|content|directories/);
  });
});

describe('a class that adapts content', () => {
  const configured = [
    { name: 'x', files, config: { size: 'xl' }, adapted: { ...files, 'size.txt': '"xl"' } },
  ];

  it('is tried with a config, and passes', async () => {
    const refused = [{ name: 'a number', files, config: { size: 5 }, message: 'size is a number' }];
    const { deployment: _, ...adapting } = aClass({ configure });
    const limits = ['acme: configure "x" stays within the limits'];
    const both = await complaints(aClass({ configure }), { configured, refused });
    expect(Object.keys(both)).toEqual(limits);
    const alone = await complaints(adapting, { configured, refused, deployments: [] });
    expect(Object.keys(alone)).toEqual(limits);
  });

  it('sees a mark on the Bundle when there is a config', async () => {
    const marks: (string | undefined)[] = [];
    const bundle: Provisioner['bundle'] = async (content, { metadata }) => {
      marks.push(metadata.annotations?.['core.rukpak.io/configured']);
      return content;
    };
    await complaints(aClass({ bundle, configure }), { configured, bundles: [], deployments: [] });
    expect(new Set(marks)).toEqual(new Set(['true', undefined]));
  });

  it('is asked for fixtures', async () => {
    const found = await complaints(aClass({ configure }));
    expect(Object.values(found)).toEqual(['the fixtures have no configured content']);
  });

  it.each<[string, ConfigureHandler, RegExp]>([
    [
      'gives something else',
      async (content) => content,
      /^its adapted content differs from the fixture/,
    ],
    ['gives no content', async () => [] as never, /BundleFilesBuilder|content/],
  ])('is found where it %s', async (_, handler, text) => {
    const found = await complaints(aClass({ configure: handler }), { configured });
    expect(found['acme: configure "x" is handled']).toMatch(text);
  });

  it('is found where it draws lots, changes content or goes on when it is aborted', async () => {
    const careless: ConfigureHandler = async ({ files, directories }, _, { signal }) => {
      files.get('colour.txt')?.fill(0);
      if (signal.aborted) throw new TerminalError('bad');
      const text = Buffer.from(String(Math.random()));
      return { files: new Map([...files, ['lot.txt', text]]), directories };
    };
    const found = await complaints(aClass({ configure: careless }), { configured });
    const title = 'acme: configure "x"';
    expect(found[`${title} is handled the same whenever and wherever`]).toMatch(/^called again/);
    expect(found[`${title} is left as it was`]).toMatch(/^it changed its arguments/);
    expect(found[`${title} ends when it is aborted`]).toBeDefined();
  });
});

describe('a class behind a URL', () => {
  const remote = { remote: true };
  const refused = [{ name: 'nothing', files: {}, message: 'no colour' }];
  const unserved = async () => await Promise.reject(new Error('its server has no such handler'));

  it('is tried with the handlers that there are fixtures for, as it has all of them', async () => {
    const all = { configure: unserved, inputs: unserved, deployment: unserved };
    expect(await complaints(aClass(all), { deployments: [], refused }, remote)).toEqual({});
    const found = await complaints(
      aClass({ ...all, configure: async () => [] as never }),
      {
        configured: [{ name: 'x', files }],
        deployments: [],
        refused,
      },
      remote,
    );
    expect(found['acme: configure "x" is handled']).toMatch(/BundleFilesBuilder|content/);
  });

  it('is asked for fixtures of something', async () => {
    const found = await complaints(aClass(), { bundles: [], deployments: [] }, remote);
    expect(Object.values(found)[0]).toMatch(/^it has neither bundle nor deployment/);
  });
});

describe('what a class behind a URL answers', () => {
  const remote = { remote: true };
  const only = `${title} stays within the limits`;

  it('may be longer than the content, where it is objects', async () => {
    const measured = aClass({
      deployment: async (_files, _object, { limits }) => {
        if (limits.maxBytes < 1_000) throw new Error('the answer is larger than the limit');
        return [aConfigMap({})];
      },
    });
    expect(await complaints(measured, {}, { ...remote, only })).toEqual({});
  });

  it('is measured for it', async () => {
    const message =
      'class "acme" at http://127.0.0.1: archive unpacks to more (--max-content-bytes)';
    const larger = aClass({
      bundle: async (content, _bundle, { limits }) => {
        if (content.files.size > 0 && limits.maxBytes < 1_000) throw new Error(message);
        return content;
      },
    });
    const bundle = 'acme: bundle "x" stays within the limits';
    expect(await complaints(larger, {}, { ...remote, only: bundle })).toEqual({});
    expect((await complaints(larger, {}, { only: bundle }))[bundle]).toMatch(/^it threw Error/);
  });
});

describe('a result that is not always the same', () => {
  let calls = 0;
  it.each<[string, () => unknown, RegExp]>([
    ['counts its calls', () => (calls += 1), /^called again with the same/],
    ['draws lots', () => Math.random(), /^called again with the same/],
    ['writes down the day', () => new Date().toDateString(), /^a year later/],
    ['writes down the year', () => new Date(Date.now()).getUTCFullYear(), /^a year later/],
    ['reads local time', () => new Date(2026, 1, 1).toISOString(), /^a year later/],
  ])('is found where a class %s', async (_, value, text) => {
    const found = await complaintsOfDeployment(async () => [aConfigMap({ value: value() })]);
    expect(found[`${title} is handled the same whenever and wherever`]).toMatch(text);
  });

  it('is found where it depends on the order of keys', async () => {
    const found = await complaintsOfDeployment(async (_, { spec }) => [
      aConfigMap({ text: JSON.stringify(spec) }),
    ]);
    expect(Object.values(found).join()).toMatch(/^with the keys of the object in another order/);
  });

  it('leaves the time as it is afterwards', async () => {
    const before = Date;
    await complaints(aClass());
    expect(Date).toBe(before);
    expect(Math.abs(Date.now() - new Date().getTime())).toBeLessThan(60_000);
  });
});

describe('arguments that a class changes are found', () => {
  it.each<[string, Provisioner['deployment']]>([
    [
      'content',
      async ({ files }) => {
        files.get('colour.txt')?.fill(0);
        return [];
      },
    ],
    [
      'config',
      async (_, { spec }) => {
        (spec.config as Record<string, unknown>)['seen'] = true;
        return [];
      },
    ],
  ])('%s', async (_, deployment) => {
    const found = await complaints(aClass({ ...(deployment && { deployment }) }));
    expect(found[`${title} is left as it was`]).toMatch(/^it changed its arguments/);
  });
});

describe('use of the system is found', () => {
  const here = import.meta.filename;

  it.each<[string, () => unknown, string]>([
    ['a file that is read at once', () => readFileSync(here), 'fs.readFileSync at '],
    ['a file that is awaited', async () => await readFile(here), 'a file (FSREQPROMISE)'],
    ['a process', () => execFileSync('true'), 'child_process.execFileSync at '],
    ['a request', async () => await fetch('http://127.0.0.1:9').catch(() => 0), 'fetch at '],
    [
      'a connection',
      () => connect(9, '127.0.0.1').on('error', () => undefined),
      'the network (TCPWRAP) at ',
    ],
  ])('%s', async (_, use, what) => {
    // Each of the others would use it as well, some of them many times.
    const only = `${title} needs no file, connection or process`;
    const deployment = async () => {
      await use();
      return [];
    };
    const text = (await complaintsOfDeployment(deployment, { only }))[only] ?? '';
    expect(text).toContain(`it used ${what}`);
  });

  it('but not loading code of its own at the first call', async () => {
    let loaded: Buffer | undefined;
    const found = await complaintsOfDeployment(async () => {
      loaded ??= await readFile(here);
      return [];
    });
    expect(found).toEqual({});
  });
});

describe('an aborted handler', () => {
  const aborts = `${title} ends when it is aborted`;

  it('that goes on is found', { tags: ['slow'] }, async () => {
    const found = await complaintsOfDeployment(async (_, __, { signal }) => {
      if (signal.aborted) await new Promise(() => undefined);
      return [];
    });
    expect(found[aborts]).toMatch(/^aborted before it began, it had not ended a second later/);
  });

  it('that says the content is bad is found', async () => {
    const found = await complaintsOfDeployment(async (_, __, { signal }) => {
      if (signal.aborted) throw new TerminalError('bad');
      return [];
    });
    expect(found[aborts]).toBe(
      'aborted before it began, it said that trying again cannot help: bad',
    );
  });

  it('that gives half of its result is found', async () => {
    const found = await complaintsOfDeployment(async (_, __, { signal }) =>
      signal.aborted ? [] : [aConfigMap({})],
    );
    expect(found[aborts]).toMatch(/^aborted before it began, it gave something else/);
  });

  it('may reject with the reason', async () => {
    const found = await complaintsOfDeployment(async (_, __, { signal }) => {
      signal.throwIfAborted();
      return [];
    });
    expect(found).toEqual({});
  });
});

it('more objects than the limit are found', async () => {
  const making = (count: number) => async () =>
    Array.from({ length: count }, (_, at) => ({ ...aConfigMap({}), metadata: { name: `a${at}` } }));
  expect(await complaintsOfDeployment(making(101))).toEqual({
    [`${title} stays within the limits`]:
      'it gave 101 objects where context.limits.maxEntries is 100: throw a TerminalError',
  });
  expect(await complaintsOfDeployment(making(100))).toEqual({});
});

describe("a class's refusal of bad content", () => {
  const spoilt = `${title} is handled or refused when it is spoilt`;

  it('is a TerminalError, for any config', async () => {
    const found = await complaintsOfDeployment(async (_, { spec }) => {
      const { size = '' } = spec.config ?? {};
      return [aConfigMap({ size: (size as string).toUpperCase() })];
    });
    expect(found[spoilt]).toMatch(
      /^with null as config.size, it threw TypeError, and is to throw a TerminalError: TypeError: /,
    );
  });

  it('is an Error', async () => {
    const found = await complaintsOfDeployment(async (_, { spec }) => {
      // oxlint-disable-next-line typescript/only-throw-error -- what a class must not do
      if (spec.config === undefined) throw 'no config';
      return [];
    });
    expect(found[spoilt]).toMatch(/^without a config, it threw no config, which is not an Error/);
  });

  it('is one line', async () => {
    const found = await complaintsOfDeployment(async (_, { spec }) => {
      if (spec.config === undefined) throw new TerminalError('no\nconfig');
      return [];
    });
    expect(found[spoilt]).toContain('has a message of several lines: "no\\nconfig"');
  });

  it('is in the words of the fixture', async () => {
    const refused = [{ name: 'nothing', files: {}, message: 'no shape' }];
    expect(await complaints(aClass(), { refused })).toHaveProperty(['acme: "nothing" is refused']);
    const fine = [{ name: 'x', files, message: 'no colour' }];
    expect(await complaints(aClass(), { refused: fine })).toEqual({
      'acme: "x" is refused': 'it was accepted',
    });
  });

  it('does not come from a config that changes all objects', async () => {
    try {
      const found = await complaintsOfDeployment(async (_, { spec }) => {
        const merged: Record<string, Record<string, unknown>> = {};
        for (const [key, value] of Object.entries(spec.config ?? {})) {
          Object.assign((merged[key] ??= {}), value);
        }
        return [];
      });
      expect(found[spoilt]).toMatch(/^with __proto__ in its config, it changed all objects/);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
  });
});

describe('inputs', () => {
  const inputs: Provisioner['inputs'] = async () => [
    { kind: 'Secret', name: 'db', key: 'password' },
    { kind: 'ConfigMap', name: 'extra', key: 'x', optional: true },
  ];
  const deployment: Provisioner['deployment'] = async (_, __, { inputs }) => [
    aConfigMap({ inputs: inputs.map((value) => value && Buffer.from(value).toString()) }),
  ];

  it('are given as the fixture has them', async () => {
    const fixture = { name: 'x', files, inputs: { 'Secret/db/password': 'p' } };
    const objects = [aConfigMap({ inputs: ['p', null] })];
    const deployments = [{ ...fixture, objects }];
    expect(await complaints(aClass({ inputs, deployment }), { deployments })).toEqual({});
  });

  it('that the fixture lacks are named', async () => {
    const found = await complaints(aClass({ inputs, deployment }));
    expect(found[`${title} is handled`]).toBe(
      'the class asks for Secret/db/password: give it in the inputs of the fixture "x"',
    );
  });

  it('that are none are found', async () => {
    const found = await complaints(
      aClass({ inputs: async () => [{ kind: 'Secret', name: 'a', key: '' }] }),
      {
        deployments: [{ name: 'x', files, inputs: { 'Secret/a/': '' } }],
      },
    );
    expect(found['acme: inputs of deployment "x" is handled']).toContain('input 0: key is ""');
  });
});
