/**
 * Milliseconds until a deployment is looked at again that waits for something of the cluster's of
 * which nobody tells: a back-off alone may come to a quarter of an hour.
 */
export const longestWait = 60_000;
