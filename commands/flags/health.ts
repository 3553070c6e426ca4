import { Command } from "@commander-js/extra-typings";

export const health = new Command("health")
  .arguments("<address>")
  .description(
    "exit with 0 if `serve` or `receive` answers at the address of its control interface; a health check for containers",
  );
