import { Gauge, type Registry } from 'prom-client';

/** Who leads, by client-go's name. */
export class LeaderMetrics {
  readonly #leads: Gauge;

  constructor(registry: Registry) {
    this.#leads = new Gauge({
      name: 'leader_election_master_status',
      help: '1 where this process holds the lease, 0 where another one does.',
      labelNames: ['name'],
      registers: [registry],
    });
  }

  leads(lease: string, leads: boolean): void {
    this.#leads.set({ name: lease }, leads ? 1 : 0);
  }
}
