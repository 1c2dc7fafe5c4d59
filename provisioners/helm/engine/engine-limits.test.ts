import { beforeAll, describe, expect, test } from 'vitest';
import { TerminalError } from '../../../core/sdk.ts';
import { type ChartEngine } from './chart-engine.ts';
import { loadChartEngine, sharedEngine } from './wasm-chart-engine.ts';

/** Its memory is soon filled. */
let smallEngine: ChartEngine;

beforeAll(async () => {
  smallEngine = await loadChartEngine({ memoryMegabytes: 48 });
}, 600_000);

function render(engine: ChartEngine, template: string, values = ''): string {
  const chart = 'apiVersion: v2\nname: web\nversion: 1.0.0\n';
  const { manifests } = engine.render({
    files: new Map([
      ['Chart.yaml', Buffer.from(chart)],
      ['templates/a.yaml', Buffer.from(template)],
    ]),
    values: [{ name: 'values', text: values }],
    release: { name: 'demo', namespace: 'shop' },
    kubeVersion: 'v1.36.3',
    apiVersions: [],
  });
  return manifests.map(({ text }) => text).join('');
}

const needsMore = 'rendering the chart needs more than 48 MiB of memory';
const nestsTooDeeply = 'the templates or values of the chart nest too deeply to be rendered';

interface Hostile {
  readonly template: string;
  readonly values?: string;
  readonly message: string | RegExp;
}

const hostile: readonly (Hostile & { readonly title: string })[] = [
  {
    title: 'a huge range',
    template: '{{ range until 100000000 }}a{{ end }}',
    message: needsMore,
  },
  {
    title: 'a huge text',
    template: '{{ repeat 1000000000 "abc" }}',
    message: needsMore,
  },
  {
    title: 'a text that doubles',
    template: '{{ $a := "abcdefgh" }}{{ range until 40 }}{{ $a = print $a $a }}{{ end }}{{ $a }}',
    message: needsMore,
  },
  {
    title: 'templates that call themselves by tpl',
    template: '{{ tpl .Values.a . }}',
    values: 'a: "{{ tpl .Values.a . }}"',
    // Whichever comes first.
    message: /nest too deeply to be rendered|needs more than 48 MiB of memory/,
  },
  {
    title: 'values within values',
    template: 'a: 1',
    values: `a: ${'{b: '.repeat(9_000)}1${'}'.repeat(9_000)}`,
    message: nestsTooDeeply,
  },
  {
    title: 'templates that call themselves',
    template: '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}',
    message: 'exceeded maximum template depth',
  },
];

describe('a chart that asks for too much is refused, and the next one rendered', () => {
  function check(engine: ChartEngine, { template, values, message }: Hostile): void {
    const failure = thrownBy(() => render(engine, template, values));
    expect(failure).toBeInstanceOf(TerminalError);
    expect(failure.message).toMatch(message);
    expect(render(engine, 'a: {{ .Release.Name }}')).toBe('a: demo');
  }

  test.each(hostile)('$title', { timeout: 600_000, tags: ['slow'] }, (chart) =>
    check(smallEngine, chart),
  );

  test('templates that include themselves', { timeout: 600_000, tags: ['slow'] }, async () => {
    // Helm counts to 1000: on a busy machine Go has used up to 100 MiB by then.
    check(await sharedEngine(), {
      template: '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}',
      message: 'rendering template has a nested reference name: x',
    });
  });
});

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

test('memory that is too small for the engine itself is refused with what it needs', async () => {
  await expect(loadChartEngine({ memoryMegabytes: 8 })).rejects.toThrow(
    /^Helm's engine needs \d+ MiB of memory at least, and is given 8$/,
  );
});
