/** A metric of a scrape: its type and samples, by the rules of Prometheus' text format. */
export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const helpLine = new RegExp(`^# HELP (${metricName}) (.+)$`);
const typeLine = new RegExp(`^# TYPE (${metricName}) (counter|gauge|histogram|summary|untyped)$`);
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const sampleLine = new RegExp(
  `^(${metricName})(?:\\{(${label}(?:,${label})*)\\})? ([+-]?(?:[0-9.]+(?:e[+-]?[0-9]+)?|Inf)|NaN|Nan)$`,
);

/** Parses a scrape; throws at whatever a strict reader would refuse. */
export function parseExposition(body: string): ReadonlyMap<string, MetricFamily> {
  if (!body.endsWith('\n')) throw new Error('a scrape ends with a line feed');
  const families = new Map<string, MetricFamily>();
  const helps = new Map<string, string>();
  const seen = new Set<string>();
  for (const line of body.split('\n').filter((each) => each !== '')) {
    const help = helpLine.exec(line);
    const type = typeLine.exec(line);
    if (help !== null) helps.set(help[1] ?? '', help[2] ?? '');
    else if (type !== null) addFamily(families, type, helps);
    else addSample(families, parseSample(line, seen));
  }
  return families;
}

function addFamily(
  families: Map<string, MetricFamily>,
  [, name = '', type = '']: RegExpExecArray,
  helps: ReadonlyMap<string, string>,
): void {
  if (families.has(name)) throw new Error(`two types of ${name}`);
  families.set(name, { type, help: helps.get(name) ?? '', samples: [] });
}

function parseSample(line: string, seen: Set<string>): Sample {
  const [, name, labels = '', value = ''] = sampleLine.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const identity = `${name}{${labels}}`;
  if (seen.has(identity)) throw new Error(`twice in one scrape: ${identity}`);
  seen.add(identity);
  const pairs = [...labels.matchAll(new RegExp(label, 'g'))].map(([pair]) => {
    const [key = '', quoted = '""'] = pair.split(/=(.*)/s);
    return [key, JSON.parse(quoted) as string];
  });
  return {
    name,
    labels: Object.fromEntries(pairs),
    value: Number(value.replace('Inf', 'Infinity')),
  };
}

function addSample(families: Map<string, MetricFamily>, sample: Sample): void {
  const base = sample.name.replace(/_(bucket|sum|count)$/, '');
  const family = families.get(sample.name) ?? families.get(base);
  if (family === undefined) throw new Error(`${sample.name} has no type`);
  family.samples.push(sample);
}

/** The sum of the samples of that name whose labels include the given ones. */
export function valueOf(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const samples = [...families.values()].flatMap((family) => family.samples);
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) =>
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
