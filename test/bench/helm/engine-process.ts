/** Started by the benchmark, with a chart's folder and a number: loads the engine and renders. */
import { loadChartEngine } from '../../../provisioners/helm/engine/wasm-chart-engine.ts';
import { residentOf } from '../process-memory.ts';
import { median } from '../report.ts';
import { chartFiles } from './bench-charts.ts';

const [folder = '', count = ''] = process.argv.slice(2);

interface Time {
  readonly wall: number;
  readonly cpu: number;
}

async function timed<T>(work: () => T | Promise<T>): Promise<readonly [T, Time]> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [result, { wall: performance.now() - startedAt, cpu: (user + system) / 1000 }];
}

const resident = () => residentOf(process.pid, 'VmRSS');

const files = await chartFiles(folder);
const without = resident();
const [engine, load] = await timed(() => loadChartEngine());
const request = {
  files,
  values: [],
  release: { name: 'demo', namespace: 'shop' },
  kubeVersion: 'v1.36.3',
  apiVersions: ['v1', 'apps/v1'],
};
const [chart, first] = await timed(() => engine.render(request));
const afterFirst = resident();
const later: Time[] = [];
for (let i = 0; i < Number(count); i++) later.push((await timed(() => engine.render(request)))[1]);

console.log(
  JSON.stringify({
    objects: chart.manifests.length,
    load,
    first,
    later: {
      wall: median(later.map(({ wall }) => wall)),
      cpu: median(later.map(({ cpu }) => cpu)),
    },
    resident: { without, afterFirst, after: resident() },
    peak: residentOf(process.pid, 'VmHWM'),
  }),
);
