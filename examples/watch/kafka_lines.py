"""Messages of a Kafka topic, line by line, into `sharp watch`; needs `pip install kafka-python`.

KAFKA=broker:9092 python examples/watch/kafka_lines.py TOPIC DIR --field message --only-alerts
"""

import os
import subprocess
import sys

from kafka import KafkaConsumer

topic, directory, *flags = sys.argv[1:]
servers = os.environ.get("KAFKA", "localhost:9092")
consumer = KafkaConsumer(topic, bootstrap_servers=servers, group_id="sharp-watch", enable_auto_commit=False)
command = [sys.executable, "-c", "from sharpstream.cli import entry; entry()", "watch", directory, *flags]
with subprocess.Popen(command, stdin=subprocess.PIPE) as watch:
    for message in consumer:
        watch.stdin.write(message.value.replace(b"\n", b" ") + b"\n")
        watch.stdin.flush()
        consumer.commit()  # after a crash between the two lines above a message comes again, none is lost by Kafka
    watch.stdin.close()
