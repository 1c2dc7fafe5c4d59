import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { Exposition, Metrics, WebhookMetrics } from '../../core/platform/observe/index.ts';
import { parseExposition } from '../helpers/exposition.ts';
import { metricsOf, promqlProblem } from '../helpers/promql.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const ruleSchema = z.strictObject({
  alert: z.string().regex(/^Rukpak[A-Za-z]+$/),
  expr: z.string(),
  for: z.string().regex(/^[0-9]+m$/),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({
    summary: z.string().min(1),
    description: z.string().regex(/\.$/),
    runbook: z.string(),
  }),
});
const rulesSchema = z.looseObject({
  kind: z.literal('PrometheusRule'),
  spec: z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(ruleSchema) })) }),
});
const panelSchema = z.looseObject({
  id: z.int(),
  title: z.string(),
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  datasource: z
    .object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') })
    .optional(),
  targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
});
const dashboardSchema = z.looseObject({
  uid: z.literal('rukpak'),
  templating: z.object({ list: z.array(z.looseObject({ name: z.literal('datasource') })) }),
  panels: z.array(panelSchema),
});

const rules = ['', 'split/', 'operators/']
  .map((folder) => rulesSchema.parse(parse(read(`deploy/monitoring/${folder}rules.yaml`))))
  .flatMap(({ spec }) => spec.groups.flatMap((group) => group.rules));
const { panels } = dashboardSchema.parse(JSON.parse(read('deploy/monitoring/dashboard.json')));

/** Every name under which the processes expose something, histograms' series included. */
async function exposedNames(): Promise<ReadonlySet<string>> {
  const webhooks = new Exposition();
  // Whatever registers itself is exposed, samples or not.
  void new WebhookMetrics(webhooks.registry);
  const names = new Set(['up']);
  for (const exposition of [new Metrics(), webhooks]) {
    const families = parseExposition((await exposition.render()).body);
    for (const [name, { type }] of families) {
      names.add(name);
      if (type !== 'histogram') continue;
      for (const suffix of ['bucket', 'sum', 'count']) names.add(`${name}_${suffix}`);
    }
  }
  return names;
}

let exposed: ReadonlySet<string>;
beforeAll(async () => {
  exposed = await exposedNames();
});

const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

test.each(expressions)('%s asks for metrics that are exposed', (_name, expression) => {
  expect(promqlProblem(expression)).toBeUndefined();
  const names = metricsOf(expression);
  expect(names).not.toEqual([]);
  for (const name of names) expect(exposed).toContain(name);
});

describe('alerts', () => {
  /** As GitHub makes them of headings. */
  const anchors = new Set(
    [...read('docs/howto/troubleshooting.md').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^a-z0-9 _-]/g, '')
        .replaceAll(' ', '-'),
    ),
  );

  test.each(rules)('$alert points to what helps', ({ annotations: { runbook } }) => {
    const [page, anchor] = runbook.split('#');
    expect(page).toBe('docs/howto/troubleshooting.md');
    expect(anchors).toContain(anchor);
  });

  test('each is documented', () => {
    const page = read('docs/howto/monitoring.md');
    for (const { alert } of rules) expect(page).toContain(`\`${alert}\``);
  });
});

test('every metric of our own and of controllers is documented', () => {
  const page = read('docs/howto/monitoring.md');
  const ours = [...exposed].filter(
    (name) => !/^(nodejs|process)_|_(bucket|sum|count)$|^up$/.test(name),
  );
  for (const name of ours) expect(page).toContain(`\`${name}\``);
});

test('panels have ids of their own and do not overlap', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});
