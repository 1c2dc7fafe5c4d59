import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Logger } from '../../contracts/logger.ts';

interface ClassWarningsOptions {
  readonly logger: Logger;
  readonly events: EventSink;
  readonly deployment: BundleDeployment;
}

/** Maximum Events of one rendering: the deployment's own must not be muted for them. */
const maxEvents = 5;
/** Maximum characters of an Event. */
const longest = 500;

/**
 * The logger of a class, whose first warnings are Events on the deployment too: whoever writes its
 * config reads no log of core, and a value without an effect is no error.
 */
export function withWarningEvents({ logger, events, deployment }: ClassWarningsOptions): Logger {
  const { provisionerClassName } = deployment.spec;
  let left = maxEvents;
  const tell = (fields: object, message: string): void => {
    if (left === 0) return;
    left -= 1;
    const texts = Object.values(fields).filter((value) => typeof value === 'string');
    const text = [message, ...texts].join(': ').slice(0, longest);
    const told = `${text} (class "${provisionerClassName}")`;
    events.event(deployment, { type: 'Warning', reason: 'ClassWarning', message: told });
  };
  return telling(logger, tell);
}

function telling(logger: Logger, tell: Logger['warn']): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    error: (fields, message) => logger.error(fields, message),
    warn: (fields, message) => {
      logger.warn(fields, message);
      tell(fields, message);
    },
    child: (fields) => telling(logger.child(fields), tell),
  };
}
