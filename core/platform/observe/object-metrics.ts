import { Gauge, type Registry } from 'prom-client';

/** How many objects have these values of a gauge's labels. */
export interface ObjectCount {
  readonly labels: Readonly<Record<string, string>>;
  readonly count: number;
}

/** Counts of what the caches hold at the time of a scrape. */
export interface ObjectCounts {
  bundles(): readonly ObjectCount[];
  conditions(): readonly ObjectCount[];
  unserved(): readonly ObjectCount[];
}

interface CountGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly counts: keyof ObjectCounts;
}

const gauges: readonly CountGauge[] = [
  { name: 'rukpak_bundles', help: 'Bundles by phase.', labelNames: ['phase'], counts: 'bundles' },
  {
    name: 'rukpak_bundle_deployment_conditions',
    help: 'BundleDeployments by condition, its status and its reason.',
    labelNames: ['type', 'status', 'reason'],
    counts: 'conditions',
  },
  {
    name: 'rukpak_unserved_objects',
    help: 'Objects of a class that nobody has served so far.',
    labelNames: ['kind', 'class'],
    counts: 'unserved',
  },
];

/** Counts objects by their state. */
export class ObjectMetrics {
  #counts: ObjectCounts | undefined;

  constructor(registry: Registry) {
    for (const gauge of gauges) registry.registerMetric(this.#gauge(gauge));
  }

  /** Asks for the counts with each scrape. */
  watch(counts: ObjectCounts): void {
    this.#counts = counts;
  }

  #gauge({ counts, ...options }: CountGauge): Gauge {
    const read = () => this.#counts?.[counts]() ?? [];
    return new Gauge({
      ...options,
      registers: [],
      collect() {
        // A state that nothing is in any more has no sample.
        this.reset();
        for (const { labels, count } of read()) this.set(labels, count);
      },
    });
  }
}
